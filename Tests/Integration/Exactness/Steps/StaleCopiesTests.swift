import BSON
import Glibc
import TestSupport
import Testing

/// Tests the step `copy` if a user changes a source field after a job has copied it.
///
/// No run overwrites the copy, which is then out of date, and each run with a journal lists the document.
@Suite struct StaleCopiesTests {
    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            // In document 0, a user set `m` before the job. This value differs from the value of `n`, but it is not an
            // outdated copy, so the notes of the report must not mention the document.
            try await test.database.fill("people", count: 100) {
                $0 == 0 ? ["_id": 0, "n": 0, "m": 1_000] : ["_id": .integer($0), "n": .integer($0)]
            }
            try test.job(steps: ["copy: {from: n, to: m}"], limits: "{chunk: {documents: 10}}")
            try await body(test)
        }
    }

    private func change(_ ids: [Int], _ test: BackfillCase) async throws {
        for id in ids { try await test.database.set("people", .integer(id), ["n": 5_000]) }
    }

    private func notes(_ run: ProgramRun) throws -> [String] {
        let report = try #require(try BSONValue(extendedJSON: run.output).document)
        return (report["notes"]?.document?.values ?? []).compactMap(\.text).filter {
            $0.contains("from its source") || $0.contains("from their sources")
        }
    }

    @Test func ofTheRunItself() async throws {
        try await withPeople { test in
            let flags = ["--output", "json", "SHIPSHAPE_LEASE_TTL=60s"]
            let run = try await test.backfill("job", flags: flags, fault: "after-checkpoint:3:stop") { program in
                try await waitUntil("the runner is stopped after the third chunk") { try program.isStopped }
                try await change([4, 17], test)
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 1, "\(run.status): \(run.errors)")
            #expect(
                try notes(run) == [
                    "copy n to m: 2 copied values differ from their sources, which changed after the copy: _id 4, 17"
                ])
        }
    }

    @Test func ofEarlierRuns() async throws {
        try await withPeople { test in
            let first = try await test.backfill("job", "--output", "json")
            #expect(try notes(first).isEmpty)
            try await change([99], test)
            let second = try await test.backfill("job", "--output", "json")
            #expect(
                try notes(second) == [
                    "copy n to m: 1 copied value differs from its source, which changed after the copy: _id 99"
                ])
        }
    }

    @Test func withoutAJournalTheyAreNotReported() async throws {
        try await withPeople { test in
            try await test.backfill("job", "--no-journal")
            try await change([99], test)
            let run = try await test.backfill("job", "--no-journal", "--output", "json")
            #expect(run.exitCode == 1)
            #expect(try notes(run).isEmpty)
        }
    }
}
