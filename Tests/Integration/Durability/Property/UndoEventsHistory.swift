import BSON
import Mongo
import Proving
import TestSupport

/// A report about a document for which a condition of the property test does not hold.
///
/// The report contains the document's change events, its journal entries with the result of each write, the records of
/// undo that name the document, and the output of undo.
struct UndoEventsHistory {
    private let id: BSONValue
    private let test: BackfillCase
    private let start: BSONValue
    private let reported: String

    init(of id: BSONValue, in test: BackfillCase, since start: BSONValue, reported: String) {
        (self.id, self.test, self.start, self.reported) = (id, test, start, reported)
    }

    func text() async throws -> String {
        let said = reported.split(separator: "\n").map { "  said: \($0)" }
        return (try await events() + journal() + named() + said).joined(separator: "\n")
    }

    private func events() async throws -> [String] {
        let (id, start, namespace) = (id, start, test.database.namespace(UndoEventsCase.collection))
        return try await test.database.pool.run { client in
            let stage: BSONValue = ["fullDocument": "whenAvailable", "startAtOperationTime": start]
            var cursor = client.collection(namespace).aggregate([["$changeStream": stage]])
            var lines: [String] = []
            while let event = try cursor.nextDocument() {
                guard let key = event["documentKey"]?.document?["_id"], key != "end" else { break }
                let isMark = key == "undo"
                guard key == id || isMark else { continue }
                let time = [("at", event["clusterTime"]), ("wall", event["wallTime"])].compactMap { name, value in
                    value.map { "\(name) \(BSONDocument([("", $0)]).json)" }
                }
                let what = isMark ? "THE UNDO" : event["fullDocument"]?.document?.json ?? ""
                lines.append("  event \(event["operationType"]?.text ?? "?") \(time.joined(separator: " ")): \(what)")
            }
            return lines
        }
    }

    /// Returns a line for each journal entry of the document.
    private func journal() async throws -> [String] {
        let all = try await test.state.documents("journal")
        var lines: [String] = []
        for part in all {
            guard let key = part["_id"]?.document else { continue }
            let groups = (part["groups"]?.document?.values ?? []).compactMap(\.document)
            guard let group = groups.first(where: { $0["i"]?.document?.values.contains(id) == true }) else { continue }
            let fields = ["b", "n", "p", "e"].compactMap { name in group[name].map { (name, $0) } }
            let head = ["pass", "phase", "chunk", "count", "evidence"].compactMap { name in
                part[name].map { (name, $0) }
            }
            lines.append(
                "  journal \(key.json) \(BSONDocument(head).json); "
                    + "its group, the \(group["i"]?.document?.values.firstIndex(of: id) ?? -1)th: "
                    + "\(BSONDocument(fields).json)"
            )
        }
        return lines
    }

    private func named() async throws -> [String] {
        try await test.state.documents("leftalone").filter { $0["_id"]?.document?["id"] == id }.map {
            "  left alone: \($0.json)"
        }
    }
}
