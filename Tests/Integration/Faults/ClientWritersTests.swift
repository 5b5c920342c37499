import BSON
import Synchronization
import TestSupport
import Testing

/// Users write to the documents while a job runs steps whose values the client computes.
///
/// Afterwards, each computed value must be the step's result for the document as a user last wrote it. The property
/// tests check the same for steps that the server computes.
@Suite struct ClientWritersTests {
    private static let documents = 120
    private static let writes = TestScale.pick(80, full: 400, torture: 5_000)
    private static let rounds = TestScale.pick(2, full: 6, torture: 60)

    /// Returns a document in which the values of all fields except `_id` are computed from a number, the stamp.
    ///
    /// Each write of a user has a different stamp.
    private static func document(_ id: Int, _ stamp: Int) -> BSONDocument {
        let fields: BSONDocument = [
            "_id": .integer(id), "s": .integer(stamp), "key": .string(key(stamp)), "owner": .integer(stamp % 10),
            "dog": .string("d\(stamp % 10)"), "home": ["key": .integer(stamp), "city": .integer(stamp)],
        ]
        return stamp.isMultiple(of: 2) ? fields.appending("own", .integer(stamp)) : fields
    }

    private static func key(_ stamp: Int) -> String {
        let digits = String(stamp, radix: 16)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    private static func uuid(_ stamp: Int) -> BSONValue {
        let tail = (0..<8).reversed().map { UInt8(truncatingIfNeeded: stamp >> ($0 * 8)) }
        return .binary(subtype: 4, bytes: [0, 0, 0, 0, 0, 0, 0x40, 0, 0x80] + tail.dropFirst())
    }

    /// Returns the names of the fields that have neither the user's value nor the step's result for the user's value.
    ///
    /// The document's stamp shows which values the user wrote.
    ///
    /// - Parameter isDone: whether the job is done. After the job, each field must have the step's result.
    private static func defects(
        of document: BSONDocument, homes: [BSONValue: BSONDocument], isDone: Bool
    ) -> [String] {
        guard let id = document["_id"]?.integer, let stamp = document["s"]?.integer else { return ["no stamp"] }
        let before = Self.document(id, stamp)
        var made: [String: BSONValue?] = [
            "key": uuid(stamp), "owner": .string("o\(stamp % 10)"), "dog": ["name": .string("n\(stamp % 10)")],
            "home": .integer(stamp), "own": before["own"],
        ]
        // If the user did not write the field `own`, the job stores a generated UUID there, and the test accepts any
        // UUID.
        if before["own"] == nil, case .binary(subtype: 4, let bytes)? = document["own"], bytes.count == 16 {
            made["own"] = document["own"]
        }
        var defects = made.filter { name, value in
            document[name] != value && (isDone || document[name] != before[name])
        }.map(\.key)
        if isDone, document["own"] == nil { defects.append("own") }
        if document["home"] == .integer(stamp), homes[.integer(stamp)]?["city"] != .integer(stamp) {
            defects.append("the document that home links to")
        }
        return defects.sorted()
    }

    /// A counter that gives each write a stamp that no other write has.
    private final class Stamps: Sendable {
        private let last = Atomic(ClientWritersTests.documents)

        var next: Int { last.add(1, ordering: .relaxed).newValue }
    }

    private func write(_ stamps: Stamps, to database: TestDatabase) async throws {
        for _ in 0..<Self.writes {
            let id = Int.random(in: 0..<Self.documents)
            let document = Self.document(id, stamps.next)
            switch Int.random(in: 0..<4) {
            case 0: try await replaceByDeletion(id, document, database)
            case 1:
                var unset = BSONBuilder()
                if document["own"] == nil { unset.append("own", 1) }
                let set = try document.removing("_id")
                let change: BSONDocument = ["$set": .object(set), "$unset": .object(unset.finish())]
                try await database.update("people", ["_id": .integer(id)], .object(change))
            default: try await database.update("people", ["_id": .integer(id)], .object(document))
            }
        }
    }

    /// Replaces a document by another one with the same `_id`, by a deletion and an insert.
    private func replaceByDeletion(_ id: Int, _ document: BSONDocument, _ database: TestDatabase) async throws {
        try await database.delete("people", ["_id": .integer(id)])
        // The insert fails if another writer has inserted a document with this `_id` since the deletion.
        _ = try? await database.fill("people", [document])
    }

    @Test(.fencedDeletes, .timeLimit(.minutes(60))) func aClientsValueIsWrittenOnlyOverTheDocumentItWasMadeFrom()
        async throws
    {
        try await Mongod.shared.withBackfill { test in
            let database = test.database
            let stamps = Stamps()
            try await database.fill("people", count: Self.documents) { Self.document($0, $0) }
            try await database.fill("ids", count: 10) { ["_id": .integer($0), "to": .string("o\($0)")] }
            try await database.fill("dogs", count: 10) { ["_id": .string("d\($0)"), "name": .string("n\($0)")] }
            try test.job(
                steps: [
                    "convert: {field: key, to: uuid}", "map: {field: owner, lookup: \(database.name).ids}",
                    "embed: {field: dog, from: \(database.name).dogs, shared: copy}",
                    "default: {field: own, generate: uuid}",
                    "extract: {field: home, to: \(database.name).homes, idFrom: key}",
                ], limits: "{chunk: {documents: 7}}")
            for round in 0..<Self.rounds {
                let fault = round.isMultiple(of: 2) ? "any:\(Int.random(in: 5...80)):kill" : nil
                let run = try await test.backfill(fault: fault) { _ in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<3 { group.addTask { try await write(stamps, to: database) } }
                        try await group.waitForAll()
                    }
                }
                let hasLeftArrivals = run.exitCode == 75 && run.output.contains("documents that keep arriving")
                #expect(
                    run.wasKilled || [0, 1].contains(run.exitCode) || hasLeftArrivals, "\(run.status): \(run.errors)")
                try await expectNoDefects(database, isDone: false)
            }
            let last = try await test.backfill()
            #expect(last.exitCode == 0, "\(last.status): \(last.errors)\(last.output)")
            #expect(try await database.count("people") == Self.documents)
            try await expectNoDefects(database, isDone: true)
        }
    }

    private func expectNoDefects(_ database: TestDatabase, isDone: Bool) async throws {
        let homes = try await database.documents("homes").map { ($0["_id"] ?? .null, $0) }
        let byID = Dictionary(homes) { $1 }
        for document in try await database.documents("people") {
            let defects = Self.defects(of: document, homes: byID, isDone: isDone)
            #expect(defects.isEmpty, "\(defects) of \(document.json)")
        }
    }
}
