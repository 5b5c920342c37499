import BSON
import Proving
import TestSupport

/// Undoes the random job, and checks the result.
extension PropertyCase {
    /// Undoes the job, sometimes with a first attempt that is killed, and checks the result.
    ///
    /// Documents that no user changed must be as they were before the job, byte for byte. In documents that a user
    /// changed, undo must change only fields that the job changes. Such a field must then have a value that a user
    /// wrote, or the value from before the job.
    mutating func checkUndo() async throws {
        try await user.write(times: random.below(20))
        if random.percent(30) {
            let fault = "any:\(1 + random.below(30)):kill"
            trail.append("an undo killed at \(fault)")
            _ = try await undo(fault: fault)
        }
        trail.append("undo")
        let before = try await test.database.keyed()
        let run = try await undo(fault: nil)
        guard let code = run.exitCode, code < 2 else {
            throw violation(.ending, "the undo ended with \(run.status): \(run.errors)")
        }
        let after = try await test.database.keyed()
        guard Set(before.keys) == Set(after.keys) else { throw violation(.undo, "the undo made or removed documents") }
        let (left, values) = (await user.left, await user.values)
        for (key, document) in after {
            if left[key] == nil {
                guard document == original[key] else {
                    throw violation(
                        .undo, "_id \(key) was \(original[key]?.json ?? "") and is \(document.json) after undo")
                }
            } else {
                try check(key, document, from: before[key] ?? [:], written: values[key] ?? [:])
            }
        }
    }

    /// Checks that undo changed only fields that the job changes.
    ///
    /// Each field that undo changed must have a value that a user wrote, or the value from before the job.
    ///
    /// In an object, each field is checked separately, because undo may restore only some of the object's fields. If a
    /// user changes a source field between the journal entry and the write, the job writes only some of the journaled
    /// fields. Undo then restores only the fields that the job certainly wrote.
    ///
    /// - Parameters:
    ///   - document: the document after undo.
    ///   - before: the document before undo.
    ///   - written: the values that users wrote, by top-level field.
    private func check(
        _ key: PropertyKey, _ document: BSONDocument, from before: BSONDocument, written: [String: [BSONValue?]]
    ) throws {
        let names = Set(try document.elements().map(\.name) + before.elements().map(\.name))
        for name in names where document[name]?.bytes != before[name]?.bytes {
            let own = (written[name] ?? []) + [original[key]?[name]]
            guard job.topLevelTargets.contains(name),
                Self.isMade(document[name], of: own, leaving: before[name])
            else {
                throw violation(
                    .undo, "the undo made of \(name) of _id \(key), \(before.json), what nobody wrote: \(document.json)"
                )
            }
        }
    }

    private func undo(fault: String?) async throws -> ProgramRun {
        let flags = [
            "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "--yes", "SHIPSHAPE_LEDGER=none", "--allow-unsync", "100000",
        ]
        let lease = ["SHIPSHAPE_LEASE_TTL=\(fault == nil ? "20s" : "1s")", "SHIPSHAPE_LEASE_WAIT=3m"]
        return try await Program.run(["undo", test.path(), "--uri", test.uri] + flags + lease, fault: fault)
    }

    private static func isMade(_ value: BSONValue?, of own: [BSONValue?], leaving before: BSONValue?) -> Bool {
        if own.contains(where: { $0?.bytes == value?.bytes }) { return true }
        guard case .object(let object)? = value else { return false }
        let names = Set((try? object.elements().map(\.name)) ?? []).union(
            (try? before?.document?.elements().map(\.name)) ?? [])
        return names.allSatisfy { name in
            let isEqual = object[name]?.bytes == before?.document?[name]?.bytes
            return isEqual
                || isMade(object[name], of: own.map { $0?.document?[name] }, leaving: before?.document?[name])
        }
    }
}
