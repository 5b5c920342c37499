import BSON
import Foundation
import TestSupport
import Testing

/// What tests of `shipshape undo` share.
extension BackfillCase {
    /// Runs `shipshape undo` off a terminal, over a job's name.
    ///
    /// Its lease is a long one, as ``backfill(_:_:uri:yes:fault:meanwhile:)`` says: a write that is cut off when it takes too
    /// long and is sent again counts what it finds restored for nothing.
    @discardableResult
    func undo(
        _ job: String = "job", flags: [String] = [], yes: Bool = true, fault: String? = nil,
        meanwhile: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        let lease = Self.lease(besides: flags, fault)
        let given = ["undo", job, "--uri", uri, "--state-database", state.name] + flags + lease
        let run = try await Program.run(given + (yes ? ["--yes"] : []), fault: fault, meanwhile: meanwhile)
        if run.wasKilled, !lease.isEmpty { try await endLease(of: job) }
        return run
    }
}

extension BSONDocument {
    /// The `_id`s that an undo's report lists for a reason.
    func left(_ reason: String) -> [BSONValue] {
        let found = self["left_alone"]?.document?.values.compactMap(\.document).first { $0["reason"]?.text == reason }
        return found?["ids"]?.document?.values ?? []
    }
}
