import BSON
import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Tests that the program does not guess the meaning of unclear input, and does not ignore input silently.
///
/// The program refuses or reports such input.
@Suite struct SilentInputTests {
    private static let nowhere = ["--uri", "mongodb://127.0.0.1:1/"]

    /// Command lines that the program refuses without a server, with the exit code and a part of the error.
    ///
    /// The files in the command lines are those that `withFiles` writes.
    static let refusals: [(arguments: [String], code: Int32, text: String)] = [
        (["chekc", "person.json"], 64, "there is no command \"chekc\" (did you mean \"check\"?)"),
        (["help", "nosuch"], 64, "there is no command \"nosuch\""),
        (["check", "person.json", "--active", "a", "--active", "b"], 64, "--active is given twice"),
        (["backfill", "job.yml", "--max-runtime", "0s"] + nowhere, 64, "--max-runtime must be more than nothing"),
        (["check", "person.json", "SHIPSHAPE_RATE=0"] + nowhere, 78, "SHIPSHAPE_RATE: "),
        (["check", "person.json", "SHIPSHAPE_RATE=-5"] + nowhere, 78, "SHIPSHAPE_RATE: "),
        (["backfill", "version.yml", "--dry-run"] + nowhere, 65, "version.yml:1:10:"),
        (["backfill", "large.yml", "--dry-run"] + nowhere, 65, "the file has more than 1 MiB"),
        (
            ["check", "misspelt.json", "--collection", "app.person"] + nowhere, 65,
            "misspelt.json:1:24: unknown keyword \"requird\" (did you mean \"required\"?)"
        ),
        (
            ["check", "validator.json", "--collection", "app.person"] + nowhere, 65,
            "unknown $jsonSchema keyword \"requird\" (did you mean \"required\"?)"
        ),
        (["undo", "jobs/"] + nowhere, 64, "shipshape backfill jobs/ runs the jobs of a folder"),
        (["job", "pause", "./jobs"] + nowhere, 64, "shipshape backfill ./jobs runs the jobs of a folder"),
    ]

    private func withFiles(_ body: (CommandLineFolder) async throws -> Void) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let job = "job: j\ncollection: app.person\nsteps:\n  - default: {field: email, value: \"\"}\n"
        try folder.write(CommandLineFolder.person, to: "person.json")
        try folder.write(job, to: "job.yml")
        try folder.write(job, to: "jobs/job.yml")
        try folder.write("version: \"1\"\n" + job, to: "version.yml")
        try folder.write(job + "# " + String(repeating: "x", count: 17 << 20), to: "large.yml")
        try folder.write(#"{"bsonType": "object", "requird": ["_id"], "properties": {}}"#, to: "misspelt.json")
        try folder.write(#"{"$jsonSchema": {"requird": ["_id"]}}"#, to: "validator.json")
        try await body(folder)
    }

    @Test(arguments: refusals.indices) func isRefused(_ index: Int) async throws {
        let refusal = Self.refusals[index]
        try await withFiles { folder in
            let run = try await Program.run(refusal.arguments, in: folder.path)
            #expect(run.exitCode == refusal.code, "\(refusal.arguments): \(run.errors)")
            #expect(run.errors.contains(refusal.text), "\(refusal.arguments): \(run.errors)")
            #expect(run.output == "")
        }
    }

    /// A schema keyword of another tool is ignored with a warning, which suggests no similar keyword.
    @Test func aKeywordOfAnotherToolIsNoSlip() async throws {
        try await withFiles { folder in
            let schema = CommandLineFolder.person.replacing(
                #""properties": {"#, with: ##""$id": "#a", "x-owner": "me", "readOnly": true, "properties": {"##)
            try folder.write(schema, to: "vendor.json")
            let run = try await Program.run(["lint", "vendor.json", "--collection", "app.person"], in: folder.path)
            for word in ["x-owner", "readOnly"] {
                #expect(run.output.contains("unknown keyword \"\(word)\" is ignored"), "\(run.output)")
            }
            #expect(!run.output.contains("did you mean"))
        }
    }

    @Test func aDefaultTakesThePathsThatDiffPrints() async throws {
        try await withFiles { folder in
            let old =
                #"{"title": "Person", "bsonType": "object", "required": ["_id"], "properties": {"_id": {"bsonType": "int"}}}"#
            let inner = #"{"bsonType": "object", "required": ["toy"], "properties": {"toy": {"bsonType": "string"}}}"#
            let new = old.replacing(
                #"{"_id": {"#,
                with: #"{"pets": {"bsonType": "array", "items": \#(inner)}, "nick": {"bsonType": "string"}, "_id": {"#
            ).replacing(#"["_id"]"#, with: #"["_id", "nick"]"#)
            try folder.write(
                old.replacing(
                    #"{"_id": {"#,
                    with:
                        #"{"pets": {"bsonType": "array", "items": {"bsonType": "object", "properties": {"toy": {"bsonType": "string"}}}}, "_id": {"#
                ), to: "old.json")
            try folder.write(new, to: "new.json")
            let schemas = ["old.json", "new.json", "--collection", "app.person"]
            let diff = try await Program.run(["diff"] + schemas, in: folder.path)
            for (path, value) in [("pets[].toy", "ball"), ("nick", "none")] {
                #expect(diff.output.contains(path), "\(diff.output)")
                let plan = try await Program.run(
                    ["plan"] + schemas + ["--default", "\(path)=\(value)"], in: folder.path)
                #expect([0, 1].contains(plan.exitCode), "\(plan.errors)")
                #expect(plan.output.contains("\"\(value)\""), "\(plan.output)")
            }
        }
    }

    @Test(.server(from: 5, for: "time series")) func checkLiveLeavesTheServersOwnCollectionsOut() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("person", count: 3)
            try await database.run(["create": "series", "timeseries": ["timeField": "at"]])
            try await database.run([
                "collMod": "person", "validator": ["$jsonSchema": ["bsonType": "object"]],
            ])
            let run = try await Program.run([
                "schema", "infer", "SHIPSHAPE_DATABASE=\(database.name)", "--uri", Mongod.shared.uri, "-o", "json",
            ])
            #expect(run.exitCode == 0, "\(run.errors)")
            let live = try await Program.run([
                "lint", "live", "--uri", Mongod.shared.uri, "-o", "json",
            ])
            #expect(!live.output.contains("system.buckets"), "\(live.output)")
        }
    }

    @Test func aLedgerThatIsNamedAndNotThereIsRefusedAndADriversOptionThatIsPassedOverIsSaid() async throws {
        try await withFiles { folder in
            let uri = try await Mongod.shared.uri(appName: "silent") + "&nosuchoption=1"
            let run = try await Program.run(
                ["ledger", "show", "SHIPSHAPE_LEDGER=no_such.ledger", "--uri", uri], in: folder.path)
            #expect(run.exitCode == 64, "\(run.errors)")
            #expect(run.errors.contains("ledger no_such.ledger: there is no such collection"))
            #expect(run.errors.contains("Unsupported URI option"))
        }
    }
}
