import BSON
import TestSupport
import Testing

extension BackfillCase {
    /// Runs a job three times: as a dry run, for real, and again.
    ///
    /// The dry run must have the same counts as the real run. Neither the dry run nor the third run may change the
    /// database.
    ///
    /// - Returns: the report of the real run.
    @discardableResult
    func runThreeTimes(
        _ job: String = "job", exitCode: Int32 = 0, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> BSONDocument {
        let digest = try await database.run(["dbHash": 1])["md5"]
        let dry = try await backfill(job, "--dry-run", "--output", "json", yes: false)
        #expect(dry.exitCode == exitCode, "\(dry.errors)", sourceLocation: sourceLocation)
        #expect(try await database.run(["dbHash": 1])["md5"] == digest, sourceLocation: sourceLocation)
        let run = try await backfill(job, "--output", "json")
        #expect(run.exitCode == exitCode, "\(run.errors)", sourceLocation: sourceLocation)
        let (reported, done) = (try report(dry), try report(run))
        for name in ["changed", "documents", "steps"] {
            #expect(reported[name] == done[name], "\(name)", sourceLocation: sourceLocation)
        }
        let after = try await database.run(["dbHash": 1])["md5"]
        let again = try await backfill(job, "--output", "json")
        #expect(again.exitCode == exitCode, "\(again.errors)", sourceLocation: sourceLocation)
        #expect(try report(again)["changed"] == 0, sourceLocation: sourceLocation)
        #expect(try await database.run(["dbHash": 1])["md5"] == after, sourceLocation: sourceLocation)
        return done
    }
}

extension BSONDocument {
    /// Returns how many documents the report's first step skips for this reason; 0 if the step has no such reason.
    func skipped(_ reason: String) -> Int {
        let step = self["steps"]?.document?.values.first?.document
        let left = step?["left_alone"]?.document?.values.compactMap(\.document) ?? []
        return left.filter { $0["reason"]?.text == reason }.compactMap { $0["documents"]?.integer }.reduce(0, +)
    }
}
