import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Helpers for the tests of `shipshape backfill FOLDER`.
///
/// The test case's folder contains the jobs that `backfill` runs.
extension BackfillCase {
    /// Runs `shipshape backfill` with the test case's folder, without a terminal.
    @discardableResult
    func backfillFolder(
        _ words: String..., flags: [String] = [], yes: Bool = true, fault: String? = nil, lease: String = "20s",
        held: Bool = false,
        during: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        let given = [
            "backfill", folder.string, "--uri", uri, "SHIPSHAPE_STATE_DATABASE=\(state.name)",
            "SHIPSHAPE_LEASE_TTL=\(lease)",
        ]
        return try await Program.run(
            given + words + flags + (yes ? ["--yes"] : []), fault: fault, held: held, during: during)
    }

    /// Returns the names of the jobs that the state database records as applied.
    func applied() async throws -> [String] {
        try await state.documents("migrations").compactMap { $0["_id"]?.text }
    }

    /// Returns the job, the state and the digest from each row of `status FOLDER`.
    func folderRows() async throws -> [[String]] {
        let run = try await Program.run([
            "status", folder.string, "--output", "json", "--uri", uri, "SHIPSHAPE_STATE_DATABASE=\(state.name)",
        ])
        #expect(run.exitCode == 0, "\(run.errors)")
        let jobs = try BSONDocument(extendedJSON: run.output)["jobs"]?.document?.values ?? []
        return jobs.compactMap(\.document).map { row in ["job", "state", "digest"].map { row[$0]?.text ?? "" } }
    }

    func remove(_ job: String) throws { try FileManager.default.removeItem(atPath: path(job)) }
}
