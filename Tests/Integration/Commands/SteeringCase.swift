import BSON
import TestSupport
import Testing

extension BackfillCase {
    /// Runs a part of the command `job`, such as `pause` or `tune`, with this test's connection string and state
    /// database.
    @discardableResult
    func steer(_ command: String...) async throws -> ProgramRun {
        let ofJob = ["pause", "resume", "tune", "deployed", "rebind", "cleanup"]
        let words = command.first.map(ofJob.contains) == true ? ["job"] + command : command
        return try await Program.run(words + ["--uri", uri, "SHIPSHAPE_STATE_DATABASE=\(state.name)"])
    }

    /// Returns the state of one job as `status` reports it in JSON.
    func status(of job: String = "job", _ flags: String...) async throws -> BSONDocument {
        let run = try await Program.run(
            ["status", job, "--output", "json", "--uri", uri, "SHIPSHAPE_STATE_DATABASE=\(state.name)"] + flags)
        #expect([0, 1].contains(run.exitCode), "\(run.errors)")
        let report = try BSONDocument(extendedJSON: run.output)
        #expect(report["schema_version"] == 1)
        return try #require(report["jobs"]?.document?.values.first?.document)
    }

    /// Returns the entries of a job's log, the oldest first.
    func log(of job: String = "job") async throws -> [String] {
        let record = try await state.documents("jobs", ["_id": .string(job)]).first
        return (record?["log"]?.document?.values ?? []).compactMap { $0.document?["what"]?.text }
    }

    /// Runs the job with slow updates, and `body` after the second chunk, while the job is still running.
    ///
    /// After `body` has returned, the job runs to its end.
    func begunSlowly(_ body: (LiveProgram) async throws -> Void) async throws -> ProgramRun {
        try await backfill(held: true) { program in
            try await slowly(program) {
                try await waitForChunks(2)
                try await body(program)
            }
        }
    }
}
