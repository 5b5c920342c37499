import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Hostile names and values appear in the output of most commands, in every format.
///
/// They must not control a terminal, a build, a page or a job that contains the output.
@Suite struct HostileNamesTests {
    /// The hostile text: it is used as a field's name, a value, an operator's note, and a reason in the ledger of
    /// unsynced documents.
    static let name =
        "a\u{1B}[31m\n::error::FORGED\r\n  ::stop-commands::x\u{2028}FORGED\u{85}FORGED\u{202E}@team ##[error]FORGED "
        + "]]>`$(id)`<b>|\u{7}'\" https://evil.example www.evil.example #1\nFORGED: 1\n"
    /// The hostile text without the characters that the name of a collection or a file cannot contain.
    static let file = "c\u{1B}[31m\n::error::FORGED\u{2028}FORGED\u{202E}@team ##[error]]>`(id)`<b>"

    private struct Case {
        let folder: CommandLineFolder
        let namespace: String
        let connection: [String]
        let state: [String]
        var collection: [String] { ["--collection", namespace] }
        let old = "\(HostileNamesTests.file)1.json"
        let new = "\(HostileNamesTests.file)2.json"
    }

    private func withCase(_ body: (Case) async throws -> Void) async throws {
        let mongod = try await Mongod.shared
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try await mongod.withDatabase { database in
            try await mongod.withDatabase { state in
                let test = Case(
                    folder: folder, namespace: "\(database.name).\(Self.file)", connection: ["--uri", mongod.uri],
                    state: ["SHIPSHAPE_STATE_DATABASE=\(state.name)"])
                try await database.fill(Self.file, count: 6) { number in
                    let name = BSONValue.string(Self.name)
                    return BSONDocument([
                        ("_id", .string("\(Self.name)\(number)")),
                        (Self.name, number % 2 == 0 ? name : .integer(number)),
                        ("k", name),
                    ])
                }
                try await database.fill(
                    "ledger",
                    [
                        [
                            "_id": 1, "ns": ["db": .string(database.name), "coll": .string(Self.file)],
                            "documentId": .string("\(Self.name)1"), "reason": .string(Self.name),
                            "appId": .string(Self.name),
                        ]
                    ])
                try write(test)
                try await body(test)
            }
        }
    }

    private func write(_ test: Case) throws {
        let name = Self.name.quotedAsJSON
        func schema(_ properties: String, required: String) -> String {
            """
            {"title": "T", "bsonType": "object", "required": ["_id"\(required)],
             "properties": {"_id": {"bsonType": "string"}, \(properties)}}
            """
        }
        let (gone, new) = ("gone\(Self.name)".quotedAsJSON, "new\(Self.name)".quotedAsJSON)
        try test.folder.write(
            schema(
                #"\#(name): {"bsonType": "int"}, \#(gone): {"bsonType": "string"}, "e": {"bsonType": "string"}"#,
                required: ""), to: test.old)
        try test.folder.write(
            schema(
                #"""
                \#(name): {"bsonType": "string"}, \#(new): {"bsonType": "string"}, "e": {"bsonType": "int"},
                "k": {"bsonType": "string", "enum": ["z", \#(name)]}, "m": {"bsonType": "string"}
                """#, required: ", \"m\", \(new)"), to: test.new)
        try test.folder.write(#"{"$jsonSchema": {"properties": {\#(name): {"bsonType": "int"}}}}"#, to: "old.json")
        try test.folder.write(
            #"{"$jsonSchema": {"required": [\#(gone)], "properties": {\#(name): {"bsonType": "string"}}}}"#,
            to: "new.json")
        let exception = #""collection": \#(test.namespace.quotedAsJSON), "reason": \#(name), "owner": \#(name)"#
        try test.folder.write(
            """
            [{\(exception), "path": "m", "rule": "required-missing"},
             {\(exception), "path": "k", "rule": "type-mismatch", "expires": "2020-01-01"}]
            """, to: "exceptions.yml")
        let step = "default: {field: \(new.replacing("\n", with: "")), value: \(name)}"
        try test.folder.write(
            """
            job: hostile
            collection: \(test.namespace.quotedAsYAML)
            schema: {active: \(test.old.quotedAsYAML), next: \(test.new.quotedAsYAML)}
            steps:
              - \(step)
              - convert: {field: \(name), to: string}
            """, to: "job.yml")
        try test.folder.write("job: bad\ncollection: a.b\nsteps:\n  - \(name): 1\n", to: "bad.yml")
        try test.folder.write(#"{"bsonType": \#(name)}"#, to: "bad.json")
        try test.folder.write("renames: [\(name)]\n", to: "shipshape-bad.yml")
    }

    private func commands(_ test: Case) -> [[String]] {
        let (here, live) = (test.collection, test.collection + test.connection)
        let (state, run) = (test.connection + test.state, test.connection + test.state + ["SHIPSHAPE_LEDGER=none"])
        let ledger = ["SHIPSHAPE_LEDGER=\(test.namespace.prefix { $0 != "." }).ledger"]
        return [
            ["check", test.new] + live + [
                "SHIPSHAPE_EXCEPTIONS=exceptions.yml", "SHIPSHAPE_LEDGER=none", "--info", "--count-groups",
            ],
            ["check", test.new, "--active", test.old, "--show-values"] + live + ledger,
            ["check", "new.json", "SHIPSHAPE_LEDGER=none"] + live,
            ["check", "bad.json"] + live, ["check", "no\(Self.name)"] + live,
            ["check", test.new, "--collection", "\(test.namespace)no"] + test.connection,
            ["diff", test.old, test.new] + live, ["diff", test.old, test.new] + here,
            ["diff", "old.json", "new.json"] + here, ["diff", "HEAD\(Self.name):x", test.new] + here,
            ["diff", test.old, test.new, "SHIPSHAPE_RENAMES=T.\(Self.name)=\(Self.name)"] + here,
            ["diff", test.old, test.new, "--config", "shipshape-bad.yml"] + here,
            ["lint", test.new] + here, ["plan", test.old, test.new] + here,
            ["plan", test.old, test.new, "--show-values"] + live, ["plan", "old.json", "new.json"] + here,
            ["plan", test.old, test.new, "--out", "jobs"] + here, ["ledger", "show", test.new] + live + ledger,
            ["ledger", "show", "--show-values"] + test.connection + ledger, ["schema", "infer"] + live,
            ["schema", "infer", "--out", "inferred.json"] + live, ["backfill", "bad.yml"] + run,
            ["backfill", "job.yml", "--dry-run", "--show-values", "--allow-unsync", "9"] + run,
            ["backfill", "job.yml", "--yes", "--allow-unsync", "9"] + run,
            ["job", "pause", "hostile", "--note", Self.name] + state, ["status", "hostile"] + state, ["status"] + state,
            ["job", "resume", "hostile"] + state, ["job", "tune", "hostile", "\(Self.name)=1"] + state,
            ["job", "tune", "hostile", "unsynced=\(Self.name)"] + state,
            ["job", "deployed", "hostile", "--yes"] + state,
            ["undo", "hostile", "--yes", "--allow-unsync", "9"] + run, ["job", "cleanup", "hostile", "--yes"] + state,
            ["status", "jobs"] + state, ["backfill", "jobs", "--dry-run"] + run,
            ["status", "no\(Self.name)"] + state, ["check", "--\(Self.name)"], [Self.name],
        ]
    }

    private func forms(of command: [String]) -> [String] {
        switch command[0] {
        case "check", "diff", "lint", "plan", "ledger", "schema": EveryFormTests.forms
        case "status": ["text", "json"]
        case "backfill", "undo": command.contains("--yes") ? ["text"] : EveryFormTests.forms
        default: ["text"]
        }
    }

    @Test func noNameSteersWhoReadsOfIt() async throws {
        try await withCase { test in
            var seen: Set<String> = []
            for command in commands(test) {
                // With the invalid job file `bad.yml`, a command ends before it reads documents, so the test tries only
                // its text output.
                let isFirst = !command.contains("bad.yml") && seen.insert(command[0]).inserted
                for form in isFirst ? forms(of: command) : ["text"] {
                    let flags = form == "text" ? [] : ["--output", form]
                    let run = try await Program.run(command + flags, in: test.folder.path)
                    let what = "\(command[0]) \(form) \(command.count)"
                    #expect(run.exitCode != 70, "\(what): \(run.errors)")
                    #expect(run.exitCode != nil, "\(what): \(run.status)")
                    expectSafe(run.output, form, "\(what), output")
                    expectSafe(run.errors, "text", "\(what), errors")
                }
            }
            for file in try FileManager.default.subpathsOfDirectory(atPath: test.folder.path.appending("jobs").string) {
                guard let text = test.folder.text(of: "jobs/\(file)") else { continue }
                expectSafe(text, "yaml", "the planned file \(file.debugDescription)")
            }
        }
    }

    private func expectSafe(_ text: String, _ form: String, _ what: String) {
        let steering = text.unicodeScalars.first { scalar in
            scalar != "\n"
                && [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
        }
        #expect(steering == nil, "\(what): U+\(String(steering?.value ?? 0, radix: 16))")
        for line in text.split(separator: "\n") {
            let start = line.drop { $0.isWhitespace }
            #expect(!start.hasPrefix("FORGED"), "\(what): \(line)")
            #expect(!line.contains("##["), "\(what): \(line)")
            let isOurs = form == "github" && ["::error ", "::warning ", "::notice "].contains { start.hasPrefix($0) }
            #expect(!start.hasPrefix("::") || isOurs, "\(what): \(line)")
        }
        if form == "html" || form == "junit" {
            #expect(!text.contains("<b>") && !text.contains("]]>"), "\(what)")
        }
        if form == "markdown" {
            let prose = text.replacing(/(`{3,})\n[\s\S]*?\n\1/, with: "").replacing(/(`+)[^`].*?\1/, with: "")
            for live in ["@team", "<b>", "//evil", "www.evil", "#1"] {
                #expect(!prose.contains(live), "\(what): \(live)")
            }
        }
    }
}
