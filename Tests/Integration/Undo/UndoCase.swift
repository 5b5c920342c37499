import BSON
import Foundation
import TestSupport
import Testing

/// Helpers for the tests of `shipshape undo`.
extension BackfillCase {
    /// Runs `shipshape undo` with a job's name, without a terminal.
    ///
    /// The lease is long, as for ``backfill(_:_:uri:yes:fault:held:during:)``, so that no write exceeds its time limit.
    /// If a write exceeded it, undo would try again, and would not count the documents that the first attempt restored.
    @discardableResult
    func undo(
        _ job: String = "job", flags: [String] = [], yes: Bool = true, fault: String? = nil,
        during: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        let lease = Self.lease(unlessIn: flags, fault)
        let given = ["undo", job, "--uri", uri, "SHIPSHAPE_STATE_DATABASE=\(state.name)"] + flags + lease
        let run = try await Program.run(given + (yes ? ["--yes"] : []), fault: fault, during: during)
        if run.wasKilled, !lease.isEmpty { try await endLease(of: job) }
        return run
    }
}

extension BSONDocument {
    /// Returns the `_id`s that an undo's report lists as skipped for the given reason; empty if there are none.
    func left(_ reason: String) -> [BSONValue] {
        let found = self["left_alone"]?.document?.values.compactMap(\.document).first { $0["reason"]?.text == reason }
        return found?["ids"]?.document?.values ?? []
    }
}
