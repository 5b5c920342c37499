import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests `plan --engine`: the way from documents that halt an engine to a safe check, by the program's own next lines.
@Suite struct EnginePlanTests {
    private static let far = BSONValue.date(milliseconds: .max)

    /// Returns the first line of an output that begins with these words.
    private func line(_ words: String, in run: ProgramRun) throws -> String {
        let lines = (run.output + "\n" + run.errors).split(separator: "\n").map { $0.drop { $0 == " " } }
        return String(try #require(lines.first { $0.hasPrefix(words) }, "\(run.output)\(run.errors)"))
    }

    @Test func theNextLinesLeadFromHaltingToSafe() async throws {
        try await Mongod.shared.withDatabase { database in
            let deep = (0..<22).reduce(BSONValue.int(1)) { value, _ in ["o": value] }
            try await database.fill(
                "Task",
                [
                    ["_id": "a", "at": Self.far, "list": [["at": Self.far], ["at": .date(milliseconds: 0)]]],
                    ["_id": "b", "price": .double(.nan), "o": ["x": .minKey, "y": .double(.infinity)]],
                    ["_id": "c", "photo": .binary(subtype: 2, bytes: [9, 0, 0, 0, 1])],
                    ["_id": "d", "chain": deep], ["_id": "e", "__proto__": 5],
                    ["_id": "f", "log": .string(String(repeating: "x", count: 16_000_000))],
                    ["_id": "g", "fine": 1],
                ])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let uri = try await Mongod.shared.uri
            func run(_ command: String) async throws -> ProgramRun {
                try await Program.run(
                    command.split(separator: " ").dropFirst().map(String.init) + ["--uri", uri], in: folder.path)
            }
            let collection = "\(database.name).Task"
            let check = try await run("shipshape check --engine powersync --collection \(collection)")
            #expect(check.exitCode == 1)
            #expect(check.output.hasPrefix("3 documents halt PowerSync for all users, 1 document never arrives, "))
            let plan = try line("Next: ", in: check).dropFirst("Next: ".count)
            #expect(plan == "shipshape plan --engine powersync --collection \(collection) --out jobs")
            let planned = try await run(String(plan))
            let dry = try line("shipshape backfill --dry-run", in: planned)
            let file = try #require(dry.split(separator: " ").last)
            let job = try String(contentsOfFile: folder.path.appending("\(file)").string, encoding: .utf8)
            let places = [
                "field: at,", "field: chain,", "\n  - unset: {field: photo}", "field: log,", "__proto__",
                "field: price,",
            ]
            let order = places.map { job.range(of: $0)?.lowerBound }
            #expect(!order.contains(nil) && order.compactMap(\.self) == order.compactMap(\.self).sorted(), "\(job)")
            #expect((try await run(dry).exitCode ?? 64) < 64)
            let backfill = try await run(line("shipshape backfill jobs", in: planned) + " --yes --reviewed")
            #expect(backfill.exitCode == 0, "\(backfill.output)\(backfill.errors)")
            let last = try await run(line("shipshape check", in: planned))
            #expect(last.output.hasPrefix("Safe: every document arrives in PowerSync.\n"), "\(last.output)")
            #expect(last.exitCode == 0)
        }
    }

    /// RxDB takes only texts as `_id`s.
    @Test func aPartnerHoldsTheDocumentsUnderTexts() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("Task", (1...20).map { ["_id": .integer($0), "name": "a"] })
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let uri = try await Mongod.shared.uri
            func run(_ command: String) async throws -> ProgramRun {
                try await Program.run(
                    command.split(separator: " ").dropFirst().map(String.init) + ["--uri", uri], in: folder.path)
            }
            let collection = "\(database.name).Task"
            let check = try await run("shipshape check --engine rxdb --collection \(collection)")
            let plan = try line("Next: ", in: check).dropFirst("Next: ".count)
            #expect(plan == "shipshape plan --engine rxdb --collection \(collection) --out jobs")
            let planned = try await run(String(plan))
            let file = "jobs/partner/\(collection).yml"
            let next = [
                "Next:", "  shipshape partner init --dry-run \(file)", "  shipshape partner init \(file)",
                "  shipshape check --engine rxdb --collection \(collection)V2",
            ]
            #expect(planned.output.hasSuffix(next.joined(separator: "\n") + "\n"), "\(planned.output)")
            let dry = try await run(next[1])
            #expect(dry.exitCode == 0, "\(dry.output)\(dry.errors)")
            let start = try await run(next[2] + " --yes")
            #expect(start.exitCode == 0, "\(start.output)\(start.errors)")
            let last = try await run(next[3])
            #expect(last.output.hasPrefix("Safe: every document arrives in RxDB.\n"), "\(last.output)\(last.errors)")
        }
    }

    /// Each check proposes the plan that repairs what it found, and its next lines lead to a safe check.
    ///
    /// The check has a schema, an active one too, one without the field, several collections, or an ObjectBox model.
    @Test(arguments: ["v1.json", "v1.json v1.json", "v0.json", "", " ", "objectbox-model.json"])
    func theCheckNamesThePlanOfWhatItFound(_ subject: String) async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("A", [["_id": "a", "n": .int(1), "at": Self.far]])
            try await database.fill("B", [["_id": "a", "n": .int(1), "x": .maxKey]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            for (name, more) in [("v0.json", ""), ("v1.json", #", "at": {"bsonType": "date"}"#)] {
                let fields = #""_id": {"bsonType": "string"}, "n": {"bsonType": "int"}"# + more
                try folder.write(#"{"bsonType": "object", "properties": {\#(fields)}}"#, to: name)
            }
            try folder.write(
                #"""
                {"entities": [{"name": "A", "properties": [{"name": "n", "type": 9}]}], "modelVersion": 5}
                """#, to: "objectbox-model.json")
            let uri = try await Mongod.shared.uri
            func run(_ command: String) async throws -> ProgramRun {
                try await Program.run(
                    command.split(separator: " ").dropFirst().map(String.init) + ["--uri", uri], in: folder.path)
            }
            let isModel = subject.hasPrefix("objectbox")
            let isOfTwo = subject == " "
            let schema = subject.split(separator: " ").first.map { "\($0) " } ?? ""
            let engine = "--engine \(isModel ? "objectbox" : "powersync")"
            let collections =
                "--collection \(database.name).A" + (isOfTwo ? " --collection \(database.name).B" : "")
            let active = subject.split(separator: " ").count == 2 ? " --active v1.json" : ""
            let check = try await run("shipshape check \(schema)\(engine) \(collections)\(active)")
            #expect(check.exitCode == 1, "\(check.output)\(check.errors)")
            let plan = try line("Next: ", in: check).dropFirst("Next: ".count)
            // A job that names a schema changes only fields that the schema declares.
            let plannedSchema = subject == "v0.json" ? "" : schema
            #expect(plan == "shipshape plan \(plannedSchema)\(engine) \(collections) --out jobs", "\(check.output)")
            let planned = try await run(String(plan))
            #expect(planned.exitCode == 0, "\(planned.output)\(planned.errors)")
            let last = "shipshape check \(plannedSchema)\(engine) \(collections)"
            #expect(try line("shipshape check", in: planned) == last, "\(planned.output)")
            for name in isOfTwo ? ["A", "B"] : ["A"] {
                let job = try await run("shipshape backfill jobs/\(database.name).\(name)+fix.yml --yes --reviewed")
                #expect(job.exitCode == 0, "\(job.output)\(job.errors)")
            }
            let safe = try await run(last)
            #expect(safe.output.hasPrefix("Safe: every document arrives in "), "\(safe.output)\(safe.errors)")
        }
    }

    /// No plan can change an `_id` without a text, so the check explains the rule instead.
    @Test func aCheckExplainsWhatNoPlanRepairs() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("Task", [["_id": nil]])
            let run = try await Program.run([
                "check", "--engine", "powersync", "--collection", "\(database.name).Task", "--uri", Mongod.shared.uri,
            ])
            #expect(try line("Next: ", in: run) == "Next: shipshape explain powersync-id-null", "\(run.errors)")
        }
    }

    @Test func aChangeIsPlannedForOneCollectionAtMost() async throws {
        let run = try await Program.run(["plan", "a", "b", "--collection", "x.A", "--collection", "x.B"])
        #expect(run.exitCode == 64 && run.errors.contains("name one --collection"), "\(run.errors)")
    }

    @Test func aCollectionOfWhichEveryDocumentHaltsIsPlannedFor() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("Task", (1...500).map { ["_id": .string("\($0)"), "at": Self.far] })
            let run = try await Program.run([
                "plan", "--engine", "powersync", "--collection", "\(database.name).Task", "--uri", Mongod.shared.uri,
            ])
            #expect(run.output.contains("expression: {field: at"), "\(run.output)\(run.errors)")
            #expect(run.errors.contains("1 job repairs 500 of 500 documents."), "\(run.errors)")
        }
    }

    @Test func collectionsAtWhichTheEngineHaltsComeFirst() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("A", [["_id": "a", "x": .double(.nan)]])
            try await database.fill("B", [["_id": "a", "x": .double(.nan), "at": Self.far]])
            let run = try await Program.run([
                "plan", "--engine", "powersync", "--uri", Mongod.shared.uri, "SHIPSHAPE_DATABASE=\(database.name)",
            ])
            let places = ["A", "B"].map { run.output.range(of: "\(database.name).\($0)")?.lowerBound }
            let (lost, halting) = (try #require(places[0]), try #require(places[1]))
            #expect(halting < lost, "\(run.output)\(run.errors)")
        }
    }

    /// Each control character becomes seven characters of the row.
    @Test func aDocumentOfNearly16MiBIsJudged() async throws {
        try await Mongod.shared.withDatabase { database in
            let text = BSONValue.string(String(repeating: "\u{1}", count: 15_900_000))
            try await database.fill("Task", [["_id": "a", "log": ["text": text]]])
            let run = try await Program.run([
                "check", "--engine", "powersync", "--collection", "\(database.name).Task", "--uri", Mongod.shared.uri,
            ])
            #expect(run.output.hasPrefix("1 document never arrives in PowerSync."), "\(run.output)\(run.errors)")
        }
    }

    @Test func anEngineThatIsNewerThanItsRulesIsSaid() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("Task", [["_id": "a"]])
            let uri = try await Mongod.shared.uri
            for (version, isNewer) in [("1.26.0", true), ("2", true), ("1.25.9", false), ("1.24", false)] {
                let run = try await Program.run([
                    "check", "--engine", "powersync@\(version)", "--collection", "\(database.name).Task", "--uri", uri,
                ])
                #expect(run.exitCode == 0, "\(run.errors)")
                let text = run.output + run.errors
                #expect(text.contains("PowerSync \(version) is newer than the rules") == isNewer, "\(text)")
            }
            let wrong = try await Program.run([
                "check", "--engine", "powersync@new", "--collection", "a.b", "--uri", uri,
            ])
            #expect(
                wrong.exitCode == 64 && wrong.errors.contains("\"new\" is no version of PowerSync"), "\(wrong.errors)")
        }
    }

    /// The settings name the engine and the database, so a job of cron needs no schema and no option.
    @Test func aNightlyCheckNeedsNoSchema() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("Task", [["_id": "a", "at": Self.far]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let uri = try await Mongod.shared.uri
            let byVariable = try await Program.run(
                ["check", "SHIPSHAPE_ENGINE=powersync", "SHIPSHAPE_DATABASE=\(database.name)", "--uri", uri],
                in: folder.path)
            #expect(byVariable.output.hasPrefix("1 document halts PowerSync"), "\(byVariable.errors)")
            try folder.write("engine: powersync\ndatabase: \(database.name)\n", to: "shipshape.yml")
            let byFile = try await Program.run(["check", "--uri", uri], in: folder.path)
            #expect(byFile.output.hasPrefix("1 document halts PowerSync") && byFile.exitCode == 1, "\(byFile.errors)")
        }
    }

    @Test func planWithoutSchemaOrEngineSaysWhatToName() async throws {
        let run = try await Program.run(["plan", "--uri", "mongodb://127.0.0.1:1/"])
        #expect(run.exitCode == 64 && run.errors.contains("name one schema, OLD and NEW"), "\(run.errors)")
        let both = try await Program.run(["plan", "a", "b", "--engine", "powersync", "--uri", "mongodb://127.0.0.1:1/"])
        #expect(both.exitCode == 64 && both.errors.contains("it takes one schema or none, not two"), "\(both.errors)")
    }
}
