import BSON
import TestSupport
import Testing

/// The secondary of a set with an arbiter stops to answer during a run, so that no write reaches a majority any more.
@Suite struct MissingMajorityTests {
    @Test func withoutAMajorityARunSaysWhatItChangedAndTheNextOneEndsIt() async throws {
        let set = try await ThreeNodes.start(hasArbiter: true)
        try await set.primary.withBackfill { test in
            let people = (0..<100).map { ["_id": .integer($0)] as BSONDocument }
            try await test.database.fill("people", people)
            try test.job(steps: [#"default: {field: email, value: ""}"#], limits: "{chunk: {documents: 10}}")
            let flags = ["--max-runtime", "8s", "SHIPSHAPE_LEASE_TTL=60s"]
            let run = try await test.backfill(flags: flags, fault: "after-checkpoint:2:stop") { program in
                try await program.atEachStop { try await set.stopSecondary(behindBy: 1) }
            }
            let changed = try await test.database.count("people", ["email": ""])
            try set.continueSecondary()
            #expect(run.exitCode == 75, "\(run.status): \(run.output)\(run.errors)")
            #expect(changed > 0)
            #expect(run.errors.contains("changed \(changed) documents, not yet on a majority"), "\(run.errors)")
            try await test.endLease(of: "job")
            let next = try await test.backfill()
            #expect(next.exitCode == 0, "\(next.status): \(next.errors)")
            #expect(try await test.database.count("people", ["email": ""]) == 100)
            let undone = try await test.undo(flags: ["--output", "json"])
            #expect(undone.exitCode == 0, "\(undone.status): \(undone.errors)")
            #expect(try test.report(undone)["restored"]?.integer == 100)
            #expect(try await test.database.documents("people") == people)
        }
    }
}
