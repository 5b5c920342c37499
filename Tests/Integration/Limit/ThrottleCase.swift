import BSON
import TestSupport
import Testing

/// The fixture of the throttle's tests: a collection `people`, a job over it, and the state of a run that waits.
enum ThrottleCase {
    static let people = 50

    /// Runs a test with 50 documents in `people`, and a job that has these limits and writes chunks of `chunk`
    /// documents.
    static func withPeople(
        on mongod: Mongod, limits: String, chunk: Int = 10, _ body: (BackfillCase) async throws -> Void
    ) async throws {
        try await mongod.withBackfill { test in
            try await test.database.fill("people", count: people)
            try test.job(
                steps: ["default: {field: email, value: none}"],
                limits: "{chunk: {documents: \(chunk)}\(limits.isEmpty ? "" : ", ")\(limits)}")
            try await body(test)
        }
    }

    /// Runs the job to its end, and calls `release` while a throttle reason makes the run wait.
    ///
    /// While the run waits, it changes nothing, keeps its lease, and records the reason in the state database.
    ///
    /// - Parameter isSteady: whether the reason lasts until `release`; the run then writes no chunk before `release`.
    @discardableResult
    static func expectWait(
        _ brake: String, _ metric: String, _ test: BackfillCase, lease: String = "4s", isSteady: Bool = true,
        release: () async throws -> Void
    ) async throws -> ProgramRun {
        let run = try await test.backfill(flags: ["SHIPSHAPE_LEASE_TTL=\(lease)"]) { program in
            try await waitForThrottle(brake, test, unless: program)
            let waiting = try await waiting(test).first { $0["brake"]?.text == brake }
            #expect(waiting?["metric"]?.text?.contains(metric) == true, "\(waiting as Any)")
            #expect(waiting?["value"]?.text?.isEmpty == false)
            #expect(waiting?["limit"]?.text?.isEmpty == false)
            let before = try await test.checkpoint()
            try await waitUntil("the lease is renewed") {
                try await test.checkpoint()?.holder?["end"] != before?.holder?["end"]
            }
            if isSteady { #expect(try await test.checkpoint()?.chunks == before?.chunks) }
            try await release()
        }
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.errors.contains("waiting: "), "\(run.errors)")
        #expect(run.errors.contains(metric), "\(run.errors)")
        #expect(run.errors.contains("continuing after"), "\(run.errors)")
        // The table has the last metric of each reason, which may be that of another member.
        #expect(run.output.contains("\nWaits of the run:\n") && run.output.contains(brake), "\(run.output)")
        #expect(try await test.database.count("people", ["email": "none"]) == people)
        #expect(try await waiting(test).isEmpty)
        return run
    }

    /// Waits until the job's run waits for a throttle reason.
    ///
    /// - Parameter program: the process of the run; if the process ends, this function throws an error.
    static func waitForThrottle(_ brake: String, _ test: BackfillCase, unless program: LiveProgram? = nil) async throws
    {
        try await waitUntil("the run waits for \(brake)") {
            if program?.hasEnded == true { throw TestSupportError("the run ended before it waited for \(brake)") }
            return try await waiting(test).contains { $0["brake"]?.text == brake }
        }
    }

    /// Returns the throttle reasons for which the job's runner waits; none if it does not wait.
    ///
    /// The reasons are those that a majority has, as `status` shows them.
    static func waiting(_ test: BackfillCase) async throws -> [BSONDocument] {
        let records = try await test.state.documents("ranges", readConcern: "majority")
        return records.first?["waiting"]?.document?.values.compactMap(\.document) ?? []
    }

    /// Runs a part of the command `job`, such as `pause`, on the test's job.
    @discardableResult
    static func steer(_ verb: String, _ test: BackfillCase, _ arguments: String...) async throws -> ProgramRun {
        let words = verb == "status" ? [verb] : ["job", verb]
        return try await Program.run(
            words + [test.path()] + arguments + ["--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"])
    }
}
