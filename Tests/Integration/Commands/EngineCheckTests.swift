import BSON
import Checking
import Conformance
import Foundation
import Proving
import SystemPackage
import TestSupport
import Testing

/// Tests `check --engine` against a real server: the rules, the verdict, and the ways to name what is checked.
@Suite struct EngineCheckTests {
    private static let far = BSONValue.date(milliseconds: .max)

    /// Runs `check` on a database, and returns its JSON report.
    private static func report(
        _ arguments: [String], on mongod: Mongod, in folder: CommandLineFolder, exit code: Int32
    ) async throws -> BSONDocument {
        let run = try await Program.run(
            ["check"] + arguments + ["--uri", mongod.uri, "-o", "json"], in: folder.path)
        try #require(run.exitCode == code, "\(run.errors)\(run.output.prefix(2_000))")
        return try BSONDocument(extendedJSON: run.output)
    }

    /// Returns the groups of one rule from a collection's part of a report.
    private static func groups(_ report: BSONDocument, _ collection: String, _ code: String) -> [BSONDocument] {
        let collections = report["collections"]?.document?.values.compactMap(\.document) ?? []
        let groups = collections.first { $0["collection"] == .string(collection) }?["groups"]?.document?.values ?? []
        return groups.compactMap(\.document).filter { $0["rule"] == .string(code) }
    }

    @Test(arguments: EngineCase.all) func aStoredDocumentBreaksTheRuleAndAnotherJustDoesNot(
        _ test: EngineCase
    ) async throws {
        let rule = try #require(test.rule)
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        var flags = ["--engine", rule.engine.rawValue, "--info", "--count-groups"]
        if test.hasModel {
            try folder.write(
                EngineCase.modelText.replacing(#""Task""#, with: #""Breaks""#), to: "objectbox-model.json")
            flags += ["SHIPSHAPE_ENGINE_MODEL=objectbox-model.json"]
        }
        if !test.columns.isEmpty {
            try folder.write("Breaks: {age: integer, price: real}\nFits: {age: integer, price: real}\n", to: "c.yml")
            flags += ["SHIPSHAPE_COLUMNS=c.yml"]
        }
        try await Mongod.shared.withDatabase { database in
            try await database.fill("Breaks", [test.breaks])
            try await database.fill("Fits", [test.fits])
            let run = try await Program.run(
                ["check", "SHIPSHAPE_DATABASE=\(database.name)", "-o", "json", "--uri", Mongod.shared.uri] + flags,
                in: folder.path)
            #expect(run.exitCode == (rule.isCertain && rule.outcome != .changed ? 1 : run.exitCode), "\(run.errors)")
            let report = try BSONDocument(extendedJSON: run.output)
            let group = try #require(Self.groups(report, "Breaks", test.code).first, "\(run.output.prefix(2_000))")
            #expect(group["documents"] == 1 && group["outcome"] == .string(rule.outcome.rawValue))
            // If the report shows a filter for the group, the server finds the group's document with that filter.
            if group["filter"]?.text != nil { #expect(group["proved"] == 1, "\(group)") }
            if !test.hasModel { #expect(Self.groups(report, "Fits", test.code).isEmpty) }
        }
    }

    @Test func theVerdictNamesTheWorstOutcomeFirst() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill(
                "Task",
                [
                    ["_id": 1, "at": Self.far], ["_id": "1"], ["_id": 2, "x": .minKey, "y": .double(.nan)],
                    ["_id": 3, "x": 1],
                ])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let run = try await Program.run(
                [
                    "check", "--engine", "powersync", "--collection", "\(database.name).Task", "--uri",
                    Mongod.shared.uri,
                ])
            #expect(run.exitCode == 1)
            let verdict =
                "1 document halts PowerSync for all users, 1 document never arrives, 2 values of 1 document arrive as "
                + "0 or null, or not at all.\n"
            #expect(run.output.hasPrefix(verdict), "\(run.output)")
            for word in ["headroom", "ledger", "unsynced", "unsyncable", "limit ", "100,000"] {
                #expect(!run.output.contains(word), "\(run.output)")
            }
            #expect(
                run.output.contains("Next: shipshape plan --engine powersync --collection \(database.name).Task --out"))
        }
    }

    @Test func aFittingCollectionIsSafe() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("Task", (1...10).map { ["_id": .string("t\($0)")] })
            let run = try await Program.run(
                ["check", "--engine", "powersync", "SHIPSHAPE_DATABASE=\(database.name)", "--uri", Mongod.shared.uri])
            #expect(run.exitCode == 0)
            #expect(run.output.hasPrefix("Safe: every document arrives in PowerSync.\n"), "\(run.output)")
        }
    }

    /// A document that halts PowerSync for all users fails the check under every `--fail-on`.
    ///
    /// Only an exception in the file of the setting `exceptions` lets the check succeed.
    @Test func aHaltingDocumentFailsEveryPolicyUnlessItIsExcepted() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("person", [["_id": 1, "name": "a", "at": Self.far]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            try folder.write(CommandLineFolder.person, to: "person.json")
            let (uri, collection) = (try await Mongod.shared.uri, "\(database.name).person")
            let arguments = [
                "check", "person.json", "--engine", "powersync", "--collection", collection, "--uri", uri,
            ]
            for policy in ["new", "any", "breaking", "none"] {
                let run = try await Program.run(
                    arguments + ["--active", "person.json", "--fail-on", policy], in: folder.path)
                #expect(run.exitCode == 1, "\(policy): \(run.output)\(run.errors)")
            }
            try folder.write(
                "- {collection: \(collection), path: at, rule: powersync-date, reason: old, owner: me}\n",
                to: "e.yml")
            let excepted = try await Program.run(arguments + ["SHIPSHAPE_EXCEPTIONS=e.yml"], in: folder.path)
            #expect(excepted.exitCode == 0, "\(excepted.output)\(excepted.errors)")
            #expect(excepted.output.contains("1 document halts PowerSync for all users (1 excepted)"))
        }
    }

    @Test func aPossibleFindingFailsOnlyAStrictCheck() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("Task", [["_id": 1, "at": .date(milliseconds: 253_402_300_800_000)]])
            let uri = try await Mongod.shared.uri
            let arguments = ["check", "--engine", "any", "SHIPSHAPE_DATABASE=\(database.name)", "--uri", uri]
            #expect(try await Program.run(arguments).exitCode == 0)
            #expect(try await Program.run(arguments + ["--strict"]).exitCode == 1)
        }
    }

    /// A document that breaks only a rule of the engine fits the validator, so the server does not refuse updates of
    /// it.
    ///
    /// The report must not warn that the server refuses them.
    @Test func aFindingOfTheEngineAloneDoesNotMentionTheValidator() async throws {
        try await Mongod.shared.withDatabase { database in
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            try folder.write(#"{"$jsonSchema": {"properties": {"n": {"bsonType": "int"}}}}"#, to: "v.json")
            let arguments = [
                "check", "v.json", "--engine", "powersync", "--collection", "\(database.name).Task", "--uri",
                try await Mongod.shared.uri,
            ]
            try await database.fill("Task", [["_id": 1, "n": 1, "at": Self.far], ["_id": 2, "n": 2]])
            let fitting = try await Program.run(arguments, in: folder.path)
            #expect(fitting.exitCode == 1, "\(fitting.errors)")
            #expect(!fitting.output.contains("validationLevel"), "\(fitting.output)")
            try await database.fill("Task", [["_id": 3, "n": "x"]])
            let unfit = try await Program.run(arguments, in: folder.path)
            #expect(
                unfit.output.contains(
                    "the server refuses updates of documents that do not fit the schema, unless an update fixes"),
                "\(unfit.output)")
        }
    }

    /// A rule for dates proposes a step, which changes only the dates that break the rule.
    @Test(
        arguments: [
            ("powersync-date", -8_640_000_000_000_000, 8_640_000_000_000_000),
            ("any-date", -8_640_000_000_000_000, 8_640_000_000_000_000),
            ("any-year", -62_167_219_200_000, 253_402_300_799_999),
        ] as [(String, Int64, Int64)])
    func theRemedyForADateChangesOnlyDatesThatBreakTheRule(_ code: String, _ low: Int64, _ high: Int64) async throws {
        let rule = try #require(EngineRule.named(RuleCode(rawValue: code)))
        let step = try #require(rule.remedy.firstMatch(of: #/`(expression: .*)`/#)?.1)
        let others: [BSONValue] = [
            .date(milliseconds: 0), .date(milliseconds: low), .date(milliseconds: high), "2024", .timestamp(7), .null,
            5,
            .minKey, [Self.far], ["at": Self.far],
        ]
        try await Mongod.shared.withBackfill { test in
            let documents = others.enumerated().map { index, value -> BSONDocument in
                ["_id": .integer(index), "at": value]
            }
            try await test.database.fill("people", documents)
            try await test.database.fill(
                "people",
                [["_id": 97], ["_id": 98, "at": .date(milliseconds: .min)], ["_id": 99, "at": Self.far]])
            try test.job(steps: [String(step)])
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)\(run.output)")
            let after = try await test.database.documents("people")
            #expect(after.dropLast(3).compactMap { $0["at"] } == others)
            #expect(after.suffix(3).first?["at"] == nil)
            let bounds: [BSONValue] = [.date(milliseconds: low), .date(milliseconds: high)]
            #expect(after.suffix(2).compactMap { $0["at"] } == bounds)
        }
    }

    @Test func theIDsOfFindingsAreHidden() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("Task", [["_id": "secret-1", "at": Self.far], ["_id": 4_711], ["_id": "4711"]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            for form in ["text", "json", "jsonl", "markdown", "html", "junit"] {
                let run = try await Program.run(
                    [
                        "check", "--engine", "powersync", "SHIPSHAPE_DATABASE=\(database.name)", "--uri",
                        Mongod.shared.uri,
                        "SHIPSHAPE_IDS=none", "--failures", "f.jsonl", "-o", form,
                    ], in: folder.path)
                #expect(run.exitCode == 1, "\(run.errors)")
                let texts = run.output + run.errors + (folder.text(of: "f.jsonl") ?? "")
                #expect(texts.contains("powersync-date") && texts.contains("powersync-id-text"), "\(form)")
                #expect(!texts.contains("secret-1") && !texts.contains("4711"), "\(form)")
            }
        }
    }

    @Test func severalCollectionsAreNamed() async throws {
        try await Mongod.shared.withDatabase { database in
            for name in ["A", "B", "C"] { try await database.fill(name, [["_id": 1, "at": Self.far]]) }
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let report = try await Self.report(
                ["--engine", "powersync", "--collection", "\(database.name).A", "--collection", "\(database.name).C"],
                on: Mongod.shared, in: folder, exit: 1)
            #expect(Self.groups(report, "A", "powersync-date").count == 1)
            #expect(Self.groups(report, "B", "powersync-date").isEmpty)
            #expect(Self.groups(report, "C", "powersync-date").count == 1)
            #expect(report["engine"] == "powersync" && report["has_schema"] == false)
        }
    }

    @Test func aModelOfObjectBoxNamesTheCollections() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("Task", [["_id": 1, "age": "seven", "tags": []]])
            try await database.fill("Other", [["_id": 1.5]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            try folder.write(EngineCase.modelText, to: "objectbox-model.json")
            let report = try await Self.report(
                ["objectbox-model.json", "--engine", "objectbox", "SHIPSHAPE_DATABASE=\(database.name)"],
                on: Mongod.shared,
                in: folder, exit: 1)
            #expect(Self.groups(report, "Task", "objectbox-convert").count == 1)
            #expect(report["collections"]?.document?.values.count == 1)
        }
    }

    /// `check --join` adds up the findings in the reports on the two parts of a check.
    @Test func theReportsOfPartsAreJoined() async throws {
        try await Mongod.shared.withDatabase { database in
            try await Mongod.shared.withDatabase("state") { state in
                try await database.fill("Task", count: 400) { number in
                    number % 100 == 0 ? ["_id": .integer(number), "at": Self.far] : ["_id": .integer(number)]
                }
                let folder = try CommandLineFolder()
                defer { folder.remove() }
                for part in 1...2 {
                    let run = try await Program.run(
                        [
                            "check", "--engine", "powersync", "SHIPSHAPE_DATABASE=\(database.name)", "--uri",
                            Mongod.shared.uri,
                            "--part", "\(part)/2", "--report", "part\(part).json",
                            "SHIPSHAPE_STATE_DATABASE=\(state.name)",
                        ], in: folder.path)
                    #expect([0, 1].contains(run.exitCode), "\(run.errors)")
                }
                let merged = try await Program.run(["check", "--join", "part1.json", "part2.json"], in: folder.path)
                #expect(merged.exitCode == 1, "\(merged.errors)")
                #expect(merged.output.hasPrefix("4 documents halt PowerSync for all users."), "\(merged.output)")
            }
        }
    }

    @Test func aDumpIsCheckedLikeADeployment() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(
            """
            {"_id": 1}
            {"_id": "1"}
            {"_id": 2, "x": {"$minKey": 1}}

            """, to: "task.jsonl")
        let run = try await Program.run(
            ["check", "--engine", "powersync", "--collection", "app.Task", "--source", "task.jsonl"], in: folder.path)
        #expect(run.exitCode == 1, "\(run.errors)")
        #expect(
            run.output.hasPrefix(
                "1 document never arrives in PowerSync, 1 value of 1 document arrives as 0 or null, or not at all."),
            "\(run.output)")
    }

    @Test func aWatchRecordsWhatTheEngineDrops() async throws {
        try await Mongod.shared.withDatabase { database in
            try await Mongod.shared.withDatabase("state") { state in
                try await database.fill("person", [["_id": 1, "name": "a", "x": .minKey], ["_id": 2, "name": "b"]])
                let folder = try CommandLineFolder()
                defer { folder.remove() }
                try folder.write(CommandLineFolder.person, to: "person.json")
                let run = try await Program.run(
                    [
                        "ledger", "follow", "person.json", "--collection", "\(database.name).person", "--engine",
                        "powersync",
                        "--once", "--uri", Mongod.shared.uri, "SHIPSHAPE_STATE_DATABASE=\(state.name)",
                    ], in: folder.path)
                #expect(run.exitCode == 1, "\(run.errors)")
                #expect(run.output.hasPrefix("1 failing document in "), "\(run.output)")
                #expect(!run.output.contains("100,000"))
            }
        }
    }

    /// PowerSync has no limit of unsynced documents.
    ///
    /// The command `ledger follow --engine powersync` therefore has a limit only with the setting `limit`, even if the
    /// limit equals the default of Device Sync, which is 100,000.
    @Test func aWatchForAnEngineHasTheStatedLimit() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", [["_id": 1, "name": "a", "x": .minKey]])
            let file = test.folder.path.appending("watch.prom").string
            for (flags, isLimited) in [(["SHIPSHAPE_LIMIT=100000"], true), ([], false)] {
                let run = try await Program.run(
                    try test.arguments(["--once", "--engine", "powersync", "--metrics", file] + flags))
                #expect(run.exitCode == 1, "\(run.errors)")
                #expect(run.output.contains("(limit 100,000)") == isLimited, "\(run.output)")
                let metrics = try #require(test.folder.text(of: "watch.prom"))
                #expect(metrics.contains("shipshape_unsynced_limit{") == isLimited, "\(metrics)")
            }
        }
    }
}
