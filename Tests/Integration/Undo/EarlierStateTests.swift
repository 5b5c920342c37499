import BSON
import TestSupport
import Testing

/// Tests state databases of layout version 2, whose journal does not show which changes were written.
@Suite struct EarlierStateTests {
    private static let documents = 20

    private static func document(_ id: Int) -> BSONDocument {
        ["_id": .integer(id), "nick": .string("n\(id)"), "born": .integer(1900 + id)]
    }

    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: Self.documents, Self.document)
            try test.job(steps: ["unset: {field: nick}"], limits: "{chunk: {documents: 5}}")
            try await body(test)
        }
    }

    // MARK: A run from an earlier state

    @Test func aStartedJobContinuesAndItsPartIsUncertain() async throws {
        try await withPeople { test in
            #expect(try await test.stoppedHalfway().exitCode == 75)
            try await test.writeStateAsVersion2()
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.count("people", ["nick": ["$exists": true]]) == 0)
            #expect(try await test.checkpoint()?.chunks == 4)
            // The run has raised the version of the job's state, so that an earlier version of the program refuses the
            // job.
            #expect(try await test.state.documents("jobs").first?["version"] == 3)
            let undone = try await test.undo(flags: ["--output", "json"])
            let report = try test.report(undone)
            #expect(undone.exitCode == 1, "\(undone.errors)")
            #expect(report.left("uncertain") == (0..<10).map { .integer($0) })
            #expect(report["restored"] == 10 && report["missing_chunks"] == 0, "\(undone.output)")
            let all = try await test.undo(flags: ["--include-uncertain"])
            #expect(all.exitCode == 0, "\(all.errors)")
            #expect(try await test.database.documents("people") == (0..<Self.documents).map(Self.document))
        }
    }

    @Test func aJobWhoseRangeIsGoneStartsOver() async throws {
        try await withPeople { test in
            #expect(try await test.stoppedHalfway().exitCode == 75)
            try await test.writeStateAsVersion2()
            try await test.state.run(["drop": "ranges"])
            let refused = try await test.backfill()
            #expect(refused.exitCode == 65 && refused.errors.contains("--restart"), "\(refused.errors)")
            let run = try await test.backfill("job", "--restart")
            #expect(run.exitCode == 0, "\(run.errors)")
            let undone = try await test.undo(flags: ["--include-uncertain", "--output", "json"])
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(try test.report(undone)["missing_chunks"] == 0)
            #expect(try await test.database.documents("people") == (0..<Self.documents).map(Self.document))
        }
    }

    @Test(arguments: [1, 4]) func anotherVersionIsRefusedWithAWayOut(_ version: Int) async throws {
        try await withPeople { test in
            #expect(try await test.stoppedHalfway().exitCode == 75)
            try await test.writeStateAsVersion2()
            try await test.state.run([
                "update": "jobs",
                "updates": [["q": ["_id": "job"], "u": ["$set": ["version": .integer(version)]]]],
            ])
            let before = try await test.database.documents("people")
            for run in [try await test.backfill(), try await test.undo()] {
                #expect(run.exitCode == 65, "\(run.status): \(run.errors)")
                #expect(run.errors.contains(version == 1 ? "a new name" : "use that version"), "\(run.errors)")
            }
            #expect(try await test.database.documents("people") == before)
        }
    }

    // MARK: Undo of an earlier state

    @Test func uncertainChangesAreSkippedUnlessRequested() async throws {
        try await withPeople { test in
            #expect(try await test.backfill().exitCode == 0)
            try await test.writeStateAsVersion2()
            let before = try await test.database.documents("people")
            for flags in [["--dry-run"], []] {
                let undone = try await test.undo(flags: flags + ["--output", "json"])
                #expect(undone.exitCode == 1, "\(undone.errors)")
                let report = try test.report(undone)
                #expect(report.left("uncertain").count == Self.documents, "\(undone.output)")
                #expect(report["missing_chunks"] == 0 && report["restored"] == 0, "\(undone.output)")
                #expect(undone.output.contains("earlier version"), "\(undone.output)")
                #expect(try await test.database.documents("people") == before)
            }
            let all = try await test.undo(flags: ["--include-uncertain"])
            #expect(all.exitCode == 0, "\(all.errors)")
            #expect(try await test.database.documents("people") == (0..<Self.documents).map(Self.document))
        }
    }

    @Test func entriesThatTheJournalLacksAreReported() async throws {
        try await withPeople { test in
            #expect(try await test.backfill().exitCode == 0)
            try await test.writeStateAsVersion2()
            let newest = try #require(try await test.state.documents("journal").last?["_id"])
            try await test.state.run(["delete": "journal", "deletes": [["q": ["_id": newest], "limit": 1]]])
            let undone = try await test.undo(flags: ["--include-uncertain"])
            #expect(undone.exitCode == 1, "\(undone.output)")
            #expect(undone.output.contains("at least 5 documents"), "\(undone.output)")
            #expect(try await test.database.count("people", ["nick": ["$exists": true]]) == Self.documents - 5)
        }
    }

    // MARK: Status, pause, resume and cleanup of an earlier state

    @Test func itIsSeenAndCleanedUp() async throws {
        try await withPeople { test in
            #expect(try await test.stoppedHalfway().exitCode == 75)
            try await test.writeStateAsVersion2()
            let stopped = try await test.steer("status", "job")
            #expect(stopped.exitCode == 0 && stopped.output.contains("stopped"), "\(stopped.output) \(stopped.errors)")
            #expect(try await test.steer("pause", "job").exitCode == 0)
            #expect(try await test.backfill().exitCode == 75)
            #expect(try await test.steer("resume", "job").exitCode == 0)
            #expect(try await test.backfill().exitCode == 0)
            try await test.writeStateAsVersion2()
            let cleaned = try await test.steer("cleanup", "job", "--yes")
            #expect(cleaned.exitCode == 0, "\(cleaned.errors)")
            #expect(try await test.state.count("journal") == 0)
            #expect(try await test.undo().exitCode == 65)
        }
    }
}

extension BackfillCase {
    /// Changes the state of a job into the state that a program with layout version 2 would have stored.
    ///
    /// Version 2 numbers the attempts differently, and lacks fields that later versions added.
    fileprivate func writeStateAsVersion2() async throws {
        let version: BSONValue = ["$set": ["version": 2]]
        try await state.run(["update": "jobs", "updates": [["q": [:], "u": version]]])
        try await state.run(["update": "jobs", "updates": [["q": [:], "u": ["$unset": ["earlier": ""]]]]])
        try await state.run(["update": "ranges", "updates": [["q": [:], "u": version]]])
        let added: BSONValue = ["$unset": ["journaled": "", "written": "", "stopped": ""]]
        try await state.run(["update": "ranges", "updates": [["q": [:], "u": added]]])
        let attempts = try await state.documents("journal", ["_id.range": 0])
        try await state.run(["drop": "journal"])
        try await state.fill("journal", attempts.enumerated().map { try Self.asVersion2($1, number: $0 + 1) })
    }

    /// Returns a document of the journal in the layout of version 2.
    ///
    /// In version 2, the upper 32 bits of `_id.seq` are the token of the lease, and the lower 32 bits are the number of
    /// the attempt.
    private static func asVersion2(_ attempt: BSONDocument, number: Int) throws -> BSONDocument {
        let elements = try attempt.elements().filter { !["parts", "evidence"].contains($0.name) }
        return BSONDocument(
            try elements.map { name, value -> (String, BSONValue) in
                switch name {
                case "_id": (name, ["job": "job", "range": 0, "seq": .long(1 << 32 | Int64(number)), "part": 0])
                case "groups":
                    (
                        name,
                        .array(
                            of: try (value.document?.values ?? []).compactMap(\.document).map { group in
                                .object(BSONDocument(try group.elements().filter { $0.name != "e" }.map { ($0, $1) }))
                            })
                    )
                default: (name, value)
                }
            })
    }
}
