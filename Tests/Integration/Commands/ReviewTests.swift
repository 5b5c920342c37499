import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests that a step which `plan` marks for review runs only after it was reviewed.
@Suite struct ReviewTests {
    private func withJob(_ more: String = "", _ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 10)
            try test.job(
                steps: ["default: {field: level, value: 0}\n    review: the zero value of int"], more: more)
            try await body(test)
        }
    }

    private func filled(_ test: BackfillCase) async throws -> Int {
        try await test.database.count("people", ["level": 0])
    }

    @Test func yesAloneIsNoReview() async throws {
        try await withJob { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LEDGER=none")
            #expect(run.exitCode == 64)
            #expect(run.errors.contains("1 step to review:"), "\(run.errors)")
            #expect(run.errors.contains("job.yml:4:5: default level"), "\(run.errors)")
            #expect(run.errors.contains("the zero value of int"))
            #expect(
                run.errors.hasSuffix(
                    "shipshape: nothing was written: without a terminal, the job \"job\" needs its steps reviewed: "
                        + "write \"reviewed: true\" into \(test.path()), or give --reviewed\n"), "\(run.errors)")
            #expect(try await filled(test) == 0)
            let dry = try await test.backfill("job", "--dry-run", "SHIPSHAPE_LEDGER=none", yes: false)
            #expect(dry.exitCode == 0, "\(dry.errors)")
        }
    }

    @Test func theFlagIsAReview() async throws {
        try await withJob { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LEDGER=none", "--reviewed")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await filled(test) == 10)
        }
    }

    @Test(arguments: [("true", Int32(0)), ("false", 64)])
    func theFileSaysWhetherItWasReviewed(_ value: String, _ status: Int32) async throws {
        try await withJob("reviewed: \(value)") { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LEDGER=none")
            #expect(run.exitCode == status, "\(run.errors)")
        }
    }

    @Test(arguments: [(#"yes\n"#, Int32(0)), (#"no\n"#, 75)])
    func theAnswerAtATerminalIsAReview(_ answer: String, _ status: Int32) async throws {
        try await withJob { test in
            let flags = ["--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "SHIPSHAPE_LEDGER=none"]
            let run = try await Program.atTerminal(
                ["backfill", test.path(), "--yes"] + flags, askedFor: "Were these steps reviewed? [yes/no] ",
                types: answer)
            #expect(run.exitCode == status, "\(run.output)")
            #expect(try await filled(test) == (status == 0 ? 10 : 0))
        }
    }

    @Test func aFolderAsksForTheSame() async throws {
        try await withJob { test in
            let run = try await test.backfillFolder("SHIPSHAPE_LEDGER=none")
            #expect(run.exitCode == 64)
            #expect(run.errors.contains("give --reviewed"), "\(run.errors)")
            #expect(try await filled(test) == 0)
            #expect(try await test.backfillFolder("SHIPSHAPE_LEDGER=none", "--reviewed").exitCode == 0)
            #expect(try await filled(test) == 10)
        }
    }

    /// `plan` fills a required int with 0 and marks that step for review, but it chooses none of the values of an
    /// `enum`.
    @Test func planMarksWhatItChose() async throws {
        try await Mongod.shared.withBackfill { test in
            let id = "\"_id\": {\"bsonType\": \"int\"}, \"age\": {\"bsonType\": \"int\"}"
            try test.write("v1.json", "{\"title\": \"Person\", \"bsonType\": \"object\", \"properties\": {\(id)}}")
            try test.write(
                "v2.json",
                """
                {"title": "Person", "bsonType": "object", "required": ["level", "kind"], "properties": {
                    "_id": {"bsonType": "int"}, "years": {"bsonType": "int"}, "level": {"bsonType": "int"},
                    "kind": {"bsonType": "string", "enum": ["guest", "member"]}}}
                """)
            let folder = test.folder
            let planned = try await Program.run([
                "plan", folder.appending("v1.json").string, folder.appending("v2.json").string, "--collection",
                "\(test.database.name).people", "--out", folder.appending("jobs").string,
                "SHIPSHAPE_RENAMES=Person.age=years",
            ])
            #expect([0, 1].contains(planned.exitCode), "\(planned.errors)")
            let file = folder.appending("jobs").appending("\(test.database.name).people.yml").string
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains("\nreviewed: false\n"), "\(text)")
            #expect(
                text.contains(
                    "default: {field: level, value: 0, when: missingOrNull}\n"
                        + "    review: \"the plan chose the zero value of int\"\n"
                ),
                "\(text)")
            #expect(!text.contains("- default: {field: kind"), "\(text)")
            #expect(
                planned.output.contains("One of \"guest\", \"member\" for all: --default"), "\(planned.output)")
            // The job file states the rename of `age` to `years`, because two texts of the run need it: a note, which
            // must not report a removal of `age`, and the proposed next command.
            #expect(text.contains("\nrenames: [\"\(test.database.name).people.age=years\"]\n"), "\(text)")
            try await test.database.fill("people", [["_id": 1, "age": 5, "kind": "guest"]])
            let flags = ["--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "SHIPSHAPE_LEDGER=none"]
            let run = try await Program.run(["backfill", file, "--yes", "--reviewed"] + flags)
            #expect(run.errors.contains("property-renamed years"), "\(run.errors)")
            #expect(!run.errors.contains("property-removed"), "\(run.errors)")
            #expect(
                run.output.contains("\(test.database.name).people.age=years in renames of shipshape.yml"),
                "\(run.output)")
        }
    }
}
