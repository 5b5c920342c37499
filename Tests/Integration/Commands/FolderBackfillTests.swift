import BSON
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Tests that `backfill` runs the jobs of a folder in order and each only once, whichever version the documents have.
@Suite struct FolderBackfillTests {
    private static let versions = ["1-email", "2-years", "3-text"]

    /// Runs a test with 300 people and three jobs, each of which brings a person to the next version.
    ///
    /// One third of the people need all three jobs, one third the last two, and one third only the last.
    private func withVersions(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 300) { number in
                var fields: [(String, BSONValue)] = [("_id", .integer(number)), ("age", .int(Int32(number % 90)))]
                if number % 3 > 0 { fields.append(("email", "")) }
                if number % 3 > 1 { fields.append(("years", .int(Int32(number % 90)))) }
                return BSONDocument(fields)
            }
            try writeVersions(test)
            try await body(test)
        }
    }

    private func writeVersions(_ test: BackfillCase) throws {
        let limits = "{chunk: {documents: 10}}"
        try test.job("1-email", steps: [#"default: {field: email, value: ""}"#], limits: limits)
        try test.job("2-years", steps: ["copy: {from: age, to: years}"], limits: limits)
        try test.job("3-text", steps: ["convert: {field: years, to: string, into: text}"], limits: limits)
    }

    private func isNewest(_ test: BackfillCase) async throws -> Bool {
        let arrived: BSONDocument = [
            "email": "", "$expr": ["$and": [["$eq": ["$years", "$age"]], ["$eq": ["$text", ["$toString": "$age"]]]]],
        ]
        return try await test.database.count("people", arrived) == 300
    }

    @Test func everyDocumentArrivesAtTheNewestVersion() async throws {
        try await withVersions { test in
            let run = try await test.backfillFolder()
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await isNewest(test))
            #expect(try await test.applied() == Self.versions)
            #expect(run.output.contains("3 jobs applied, none is pending."))
            let again = try await test.backfillFolder()
            #expect(again.exitCode == 0)
            #expect(again.output == "Nothing to do: every job was applied.\n")
        }
    }

    @Test func aDraftIsSkippedWithANote() async throws {
        try await withVersions { test in
            try test.write(
                "2-draft.yml", "# A DRAFT:\n# job: 2-draft\n# collection: a.b\n# steps:\n  # - unset: {field: x}\n")
            let run = try await test.backfillFolder()
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.errors.contains("Note: 2-draft.yml is not run, because it is a draft"), "\(run.errors)")
            #expect(try await test.applied() == Self.versions)
            let alone = try await test.backfill("2-draft")
            #expect(alone.exitCode == 65)
            #expect(alone.errors.contains("2-draft.yml:2:1: the file is a draft: "), "\(alone.errors)")
        }
    }

    @Test func aJobThatWasAppliedIsNotRunAgain() async throws {
        try await withVersions { test in
            try await test.backfillFolder()
            try await test.database.fill("people", [["_id": "late"]])
            try await test.backfillFolder()
            #expect(try await test.database.documents("people", ["_id": "late"]) == [["_id": "late"]])
        }
    }

    /// After two jobs were applied, an old client inserts a document that needs them.
    ///
    /// `--again` runs the applied jobs again, so that this document is changed, too.
    @Test func appliedJobsRunAgainWhenWanted() async throws {
        try await withVersions { test in
            try await test.backfillFolder("--until", "2-years")
            try await test.database.fill("people", [["_id": "late", "age": 5]])
            let dry = try await test.backfillFolder("--again", "--dry-run", yes: false)
            #expect(dry.output.contains("would change 1 of 301 documents"), "\(dry.output)")
            let run = try await test.backfillFolder("--again")
            #expect(run.exitCode == 0, "\(run.errors)")
            for line in ["1-email.yml: job 1-email on \(test.database.name).people, again", "3 jobs to run:"] {
                #expect(run.errors.contains(line), "\(run.errors)")
            }
            #expect(!run.errors.contains("3-text.yml: job 3-text on \(test.database.name).people, again"))
            let late: BSONDocument = ["_id": "late", "age": 5, "email": "", "years": 5, "text": "5"]
            #expect(try await test.database.documents("people", ["_id": "late"]) == [late])
            #expect(try await test.applied() == Self.versions)
            #expect(try await test.backfillFolder().output == "Nothing to do: every job was applied.\n")
            #expect(try await test.backfillFolder("--again", "--ids", "ids.jsonl", yes: false).exitCode == 64)
        }
    }

    /// `--again` runs applied jobs again, but not a job that was undone.
    @Test func anUndoneJobDoesNotRunAgain() async throws {
        try await withVersions { test in
            try await test.backfillFolder("--until", "1-email")
            let undo = try await Program.run([
                "undo", "1-email", "--yes", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
            ])
            try #require(undo.exitCode == 0, "\(undo.errors)")
            let run = try await test.backfillFolder("--again", "--until", "1-email")
            #expect(run.errors.contains("Note: 1-email.yml:"), "\(run.errors)")
            #expect(try await test.database.count("people", ["email": ""]) == 200)
        }
    }

    @Test func offATerminalItNeedsYes() async throws {
        try await withVersions { test in
            let run = try await test.backfillFolder(yes: false)
            #expect(run.exitCode == 64)
            #expect(run.errors.contains("without a terminal, backfill needs --yes"))
            #expect(try await test.hasState() == false)
        }
    }

    @Test func theUndoReachesAsFarAsRequested() async throws {
        try await withVersions { test in
            let first = try await test.backfillFolder("--until", "1-email")
            #expect(first.output.contains("1 job applied, pending: 2-years, 3-text."))
            #expect(try await test.applied() == ["1-email"])
            try await test.backfillFolder("--until", "2-years.yml")
            #expect(try await test.applied() == ["1-email", "2-years"])
            let unknown = try await test.backfillFolder("--until", "4")
            #expect(unknown.exitCode == 64)
            #expect(unknown.errors.contains("jobs: 1-email, 2-years, 3-text"))
        }
    }

    @Test func aDryRunWritesNothingAndShowsEachJob() async throws {
        try await withVersions { test in
            let before = try await test.database.documents("people")
            let run = try await test.backfillFolder("--dry-run", yes: false)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.contains("job 1-email on \(test.database.name).people: dry run, nothing was written"))
            #expect(run.output.contains("would change 100 of 300 documents"))
            #expect(try await test.database.documents("people") == before)
            #expect(try await test.hasState() == false)
        }
    }

    @Test func statusShowsEachJobAndItsDigest() async throws {
        try await withVersions { test in
            try await test.backfillFolder("--until", "2-years")
            try test.job("2-years", steps: ["copy: {from: age, to: lustrum}"])
            try test.remove("1-email")
            #expect(
                try await test.folderRows() == [
                    ["2-years", "applied", "changed"], ["3-text", "pending", "-"],
                    ["1-email", "applied", "missing file"],
                ])
        }
    }

    @Test func aJobThatWasChangedAfterItWasAppliedIsRefusedBeforeAnythingIsWritten() async throws {
        try await withVersions { test in
            try await test.backfillFolder("--until", "2-years")
            try test.job("2-years", steps: ["copy: {from: age, to: lustrum}"])
            let before = try await test.database.documents("people")
            let run = try await test.backfillFolder()
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("\(test.path("2-years")): job \"2-years\" was applied on "))
            #expect(run.errors.contains("restore the applied version, and make a new job for the change"))
            #expect(try await test.database.documents("people") == before)
        }
    }

    @Test func aJobThatComesLateIsRunAndSaidSo() async throws {
        try await withVersions { test in
            try test.remove("2-years")
            try await test.backfillFolder()
            #expect(try await test.applied() == ["1-email", "3-text"])
            try writeVersions(test)
            let run = try await test.backfillFolder()
            #expect(run.exitCode == 0)
            #expect(
                run.errors.contains("Note: 2-years.yml comes before jobs that were applied, but was not applied itself")
            )
            #expect(try await test.applied() == Self.versions)
        }
    }

    @Test func aJobWithFindingsIsAppliedAndTheNextOnesRun() async throws {
        try await withVersions { test in
            try await test.database.fill("people", [["_id": "odd", "age": "?"]])
            try test.job("2-number", steps: ["convert: {field: age, to: int}"])
            let run = try await test.backfillFolder("--until", "3-text")
            #expect(run.exitCode == 1)
            #expect(run.errors.contains("job 2-number is applied, with findings"))
            let rows = try await test.folderRows()
            #expect(rows.map { $0[1] } == ["applied", "applied, with findings", "applied", "applied"])
        }
    }

    @Test func theFirstJobThatStopsEndsItAndTheNextRunContinuesFromThere() async throws {
        try await withVersions { test in
            let stopped = try await test.backfillFolder(held: true) { program in
                try await test.slowly(program) {
                    try await test.waitForChunks(2, of: "2-years")
                    program.send(SIGTERM)
                }
            }
            #expect(stopped.exitCode == 75)
            #expect(stopped.output.contains("1 job applied, pending: 2-years, 3-text."))
            let rest = try await test.backfillFolder()
            #expect(rest.exitCode == 0)
            #expect(rest.errors.contains("resuming after "))
            #expect(try await isNewest(test))
        }
    }

    @Test func aPausedJobStopsIt() async throws {
        try await withVersions { test in
            let stopped = try await test.backfillFolder(held: true) { program in
                try await test.slowly(program) {
                    try await test.waitForChunks(2, of: "1-email")
                    program.send(SIGTERM)
                }
            }
            #expect(stopped.exitCode == 75)
            try await test.steer("pause", "1-email")
            let paused = try await test.backfillFolder()
            #expect(paused.exitCode == 75)
            #expect(paused.errors.contains("job \"1-email\" is paused by "))
            #expect(try await test.applied() == [])
        }
    }

    @Test func ofTwoAtOnceTheSecondIsTurnedAway() async throws {
        try await withVersions { test in
            let first = try await test.backfillFolder(held: true) { program in
                try await test.slowly(program) {
                    try await test.waitForChunks(2, of: "1-email")
                    // The first program is stopped during its first job, so it still holds the lease of that job when
                    // the second program starts.
                    program.send(SIGSTOP)
                    try await waitUntil("it stands still") { try program.isStopped }
                    defer { program.send(SIGCONT) }
                    let second = try await Program.run([
                        "backfill", test.folder.string, "--yes", "--uri", test.uri(appName: "second"),
                        "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
                    ])
                    #expect(second.exitCode == 76)
                    #expect(second.errors.contains("job \"1-email\" is held by process "))
                }
            }
            #expect(first.exitCode == 0, "\(first.errors)")
            #expect(try await isNewest(test))
        }
    }

    @Test func aFolderThatCannotBeUsedIsRefused() async throws {
        try await Mongod.shared.withBackfill { test in
            let empty = try await test.backfillFolder()
            #expect(empty.exitCode == 65)
            #expect(empty.errors.contains("has no jobs: it contains no .yml or .yaml file"))
            try test.job("a", steps: ["copy: {from: x, to: y}"])
            try test.write("b.yml", "job: a\ncollection: d.c\nsteps: [{copy: {from: x, to: y}}]\n")
            let twins = try await test.backfillFolder()
            #expect(twins.exitCode == 65)
            #expect(twins.errors.contains("b.yml:1:1: a.yml already has a job \"a\""))
        }
    }
}
