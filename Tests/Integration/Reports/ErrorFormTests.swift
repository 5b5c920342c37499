import BSON
import SystemPackage
import TestSupport
import Testing

@testable import ShipshapeCLI

/// Tests errors of commands that write JSON: one line of JSON on standard error, which fits the schema of errors.
@Suite struct ErrorFormTests {
    @Test(arguments: [
        (["lint", "nowhere", "-o", "json"], 65, "bad_input", "nowhere"),
        (["lint", "nowhere", "--output=jsonl"], 65, "bad_input", "nowhere"),
        (["check", "nowhere", "--nope", "-o", "json"], 64, "usage", "--nope"),
        (["chekc", "-ojson"], 64, "usage", "check"),
        (
            ["ledger", "show", "--uri", "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=300", "-o", "json"], 69,
            "unavailable", "127.0.0.1:1"
        ),
        (
            ["lint", "nowhere", "-o", "json", "--report", "/no/such/folder/r.html"], 73, "cannot_write",
            "/no/such/folder/r.html"
        ),
    ])
    func anErrorIsALineOfJSON(_ arguments: [String], _ code: Int, _ kind: String, _ quoted: String) async throws {
        let run = try await Program.run(arguments)
        #expect(run.exitCode == Int32(code))
        #expect(run.output == "")
        let line = try #require(run.errorLines.count == 1 ? run.errorLines.first : nil, "\(run.errors)")
        let error = try #require(try JSONValue(String(line))["error"])
        #expect(error["exit_code"] == .number(Double(code)))
        #expect(error["kind"]?.text == kind)
        #expect(error["message"]?.text?.contains(quoted) == true)
    }

    @Test(arguments: [[], ["-o", "text"], ["-o", "html"], ["--report", "r.json"]])
    func elseItIsALineOfText(_ form: [String]) async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let run = try await Program.run(["lint", "nowhere"] + form, in: folder.path)
        #expect(run.exitCode == 65)
        #expect(run.errors.hasPrefix("shipshape: nowhere: "))
        // The program removes the report file that the run had begun.
        #expect(folder.names == [])
    }
}

/// Every command that reports findings supports every output format.
@Suite struct EveryFormTests {
    static let forms = OutputForm.allCases.map(\.rawValue)

    @Test func eachCommandKnowsEachForm() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { states in
            try await mongod.withDatabase { database in
                try await database.fill("person", count: 6) {
                    $0 < 2 ? ["_id": .integer($0)] : ["_id": .integer($0), "name": "Ada"]
                }
                let folder = try CommandLineFolder()
                defer { folder.remove() }
                let check = try folder.check(database, on: mongod)
                let namespace = "\(database.name).person"
                try folder.write(
                    CommandLineFolder.person.replacing(
                        #""name": { "bsonType": "string" }"#, with: #""name": { "bsonType": "int" }"#), to: "next.json")
                try folder.write(
                    "job: forms\ncollection: \(namespace)\nsteps:\n  - default: {field: name, value: x}\n",
                    to: "job.yml")
                let uri = mongod.uri
                let state = ["--uri", uri, "SHIPSHAPE_STATE_DATABASE=\(states.name)", "SHIPSHAPE_LEDGER=none"]
                let commands: [(arguments: [String], says: String)] = [
                    (check, "required-missing"),
                    (["diff", "person.json", "next.json", "--collection", namespace], "name: string"),
                    (["lint", "person.json", "--collection", namespace], "title"),
                    (["ledger", "show", "--uri", uri], "127.0.0.1"),
                    (
                        ["plan", "person.json", "next.json", "--collection", namespace, "--out", "jobs", "--force"],
                        "jobs"
                    ),
                    (
                        [
                            "schema", "infer", "--collection", namespace, "--uri", uri, "--out", "inferred.json",
                            "--force",
                        ], "name"
                    ),
                    (["backfill", "job.yml", "--dry-run"] + state, "forms"),
                    (["backfill", "job.yml", "--yes"] + state, "forms"),
                    (["undo", "forms", "--dry-run"] + state, "forms"),
                    (["status", "--uri", uri, "SHIPSHAPE_STATE_DATABASE=\(states.name)"], "forms"),
                    (["status", ".", "--uri", uri, "SHIPSHAPE_STATE_DATABASE=\(states.name)"], "pending"),
                    (
                        ["ledger", "follow", "person.json", "--collection", namespace, "--once", "--uri", uri]
                            + ["SHIPSHAPE_STATE_DATABASE=\(states.name)"], "unsynced"
                    ),
                    (
                        [
                            "schema", "models", "person.json", "--collection", namespace, "--language", "swift",
                            "--out", "code",
                        ]
                            + ["--force"], "swift"
                    ),
                    (["doctor", "--settings", "list"], "ettings"),
                ]
                for (arguments, says) in commands {
                    for form in Self.forms {
                        let run = try await Program.run(arguments + ["-o", form], in: folder.path)
                        #expect([0, 1].contains(run.exitCode), "\(arguments) \(form): \(run.errors)")
                        // The formats `github` and `gitlab` show only findings, and some of these commands find nothing
                        // here.
                        let isOfFindings = ["github", "gitlab"].contains(form)
                        #expect(isOfFindings || run.output.contains(says), "\(arguments) \(form): \(run.output)")
                        let start = [
                            "json": "{\n", "jsonl": #"{"record":"header""#, "markdown": "### ",
                            "html": "<!doctype html>",
                            "junit": "<?xml ", "sarif": "{\n  \"$schema\"", "gitlab": "[",
                        ][form]
                        if let start { #expect(run.output.hasPrefix(start), "\(arguments) \(form)") }
                    }
                }
            }
        }
    }
}
