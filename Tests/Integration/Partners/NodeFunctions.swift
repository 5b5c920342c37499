import BSON
import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Runs App Services functions under Node; the functions call a stub instead of the collections of the test's database.
///
/// For each call, the stub writes a request to a file. The test sends the request to the server, and writes the answer
/// to another file. All values are extended JSON.
struct NodeFunctions {
    let database: TestDatabase
    let folder: CommandLineFolder

    private static let harness = """
        const fs = require("fs"), path = require("path");
        const [folder, file, event] = process.argv.slice(2);
        let count = 0;
        async function ask(request) {
          const number = ++count;
          const place = path.join(folder, "ask-" + number);
          fs.writeFileSync(place + ".part", JSON.stringify(request));
          fs.renameSync(place + ".part", place);
          const answer = path.join(folder, "answer-" + number);
          while (!fs.existsSync(answer)) await new Promise((done) => setTimeout(done, 2));
          return JSON.parse(fs.readFileSync(answer, "utf8")).v;
        }
        const collection = (name) => {
          const call = (op) => (...args) => ask({ name, op, args });
          const aggregate = (pipeline) => ({ toArray: () => ask({ name, op: "aggregate", args: [pipeline] }) });
          return { aggregate, findOne: call("findOne"), deleteOne: call("deleteOne"), replaceOne: call("replaceOne"),
                   insertOne: call("insertOne") };
        };
        global.context = { services: { get: () => ({ db: () => ({ collection }) }) } };
        global.EJSON = { stringify: (value) => JSON.stringify(value), parse: (text) => JSON.parse(text) };
        require(file)(JSON.parse(event)).then(() => process.exit(0), (error) => {
          console.error(error); process.exit(1);
        });
        """

    /// Runs the function in a file as if the document with this `_id` had changed.
    /// - Returns: the number of writes that the function made, and its error output.
    func run(_ file: String, id: BSONValue) async throws -> (writes: Int, said: String) {
        let calls = folder.path.appending("calls-\(UInt32.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(atPath: calls.string, withIntermediateDirectories: true)
        let harness = try folder.write(Self.harness, to: "harness.js")
        let event = try BSONDocument([("documentKey", BSONValue.object(["_id": id]))]).extendedJSON()
        var writes = 0
        let result = try await Subprocess.run(
            .path("/usr/bin/node"), arguments: [harness, calls.string, file, event], input: .none,
            output: .string(limit: 1 << 20), error: .string(limit: 1 << 20)
        ) { execution in
            let program = LiveProgram(process: execution.processIdentifier.value)
            var number = 1
            while !program.hasEnded {
                let ask = calls.appending("ask-\(number)").string
                guard let text = try? String(contentsOfFile: ask, encoding: .utf8) else {
                    try await Task.sleep(for: .milliseconds(2))
                    continue
                }
                let request = try #require(try BSONValue(extendedJSON: text).document)
                if !["aggregate", "findOne"].contains(request["op"]?.text) { writes += 1 }
                let answer = try BSONDocument([("v", try await answer(request))]).extendedJSON()
                let place = calls.appending("answer-\(number)").string
                try Data(answer.utf8).write(to: URL(fileURLWithPath: place), options: .atomic)
                number += 1
            }
        }
        let said = result.standardError
        #expect(result.terminationStatus.isSuccess, "\(said)")
        return (writes, said)
    }

    private func answer(_ request: BSONDocument) async throws -> BSONValue {
        let name = request["name"] ?? .null
        let arguments = request["args"]?.document?.values ?? []
        let first = arguments.first ?? .null
        func batch(_ reply: BSONDocument) -> BSONDocument { reply["cursor"]?.document?["firstBatch"]?.document ?? [:] }
        switch request["op"]?.text {
        case "aggregate":
            return .array(batch(try await database.run(["aggregate": name, "pipeline": first, "cursor": [:]])))
        case "findOne":
            return batch(try await database.run(["find": name, "filter": first, "limit": 1])).values.first ?? .null
        case "deleteOne":
            try await database.run(["delete": name, "deletes": [["q": first, "limit": 1]]])
        case "replaceOne":
            try await database.run(["update": name, "updates": [["q": first, "u": arguments[1]]]])
        case "insertOne": try await database.run(["insert": name, "documents": [first]])
        default: Issue.record("the functions ask for what the service does not have: \(request)")
        }
        return .null
    }
}

/// Tests that the App Services functions that `partner plan --triggers` generates change documents as `partner mirror`
/// does.
@Suite(.fencedDeletes) struct PartnerTriggersTests {
    /// A client's change of a document in the original collection (`source`) or in the partner collection (`target`).
    ///
    /// If `update` is `nil`, the client deletes the document.
    private struct Change {
        var side: String
        var number: Int
        var update: BSONValue?
    }

    private static let changes: [Change] = [
        Change(side: "source", number: 1, update: ["$set": ["title": "one"]]),
        Change(side: "source", number: 2, update: ["$unset": ["priority": 1]]),
        Change(side: "target", number: 4, update: ["$set": ["name": "four", "priority": "3", "note": "n"]]),
        Change(side: "source", number: 4, update: ["$set": ["title": "vier"]]),
        Change(side: "target", number: 5, update: nil), Change(side: "source", number: 7, update: nil),
        Change(side: "source", number: 30, update: ["$set": ["title": "new", "parent": .objectID(PartnerCase.id(1))]]),
        Change(side: "target", number: 31, update: ["$set": ["name": "new too", "priority": "2"]]),
        Change(side: "target", number: 8, update: ["$set": ["priority": "high"]]),
        Change(side: "target", number: 6, update: ["$unset": ["name": 1]]),
    ]

    private func id(_ change: Change) -> BSONValue {
        change.side == "source" ? .objectID(PartnerCase.id(change.number)) : .string("\(PartnerCase.id(change.number))")
    }

    private func apply(_ change: Change, to database: TestDatabase) async throws {
        let collection = change.side == "source" ? "Task" : "TaskV2"
        guard let update = change.update else { return try await database.delete(collection, ["_id": id(change)]) }
        try await database.run([
            "update": .string(collection), "updates": [["q": ["_id": id(change)], "u": update, "upsert": true]],
        ])
    }

    @Test func theFunctionsLeaveTheSameDocumentsAsTheMirror() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withPartner { mirrored in
            try await mongod.withPartner { triggered in
                for test in [mirrored, triggered] {
                    try test.job()
                    try await test.load(12)
                    try #require(try await test.run("init").exitCode == 0)
                }
                let out = triggered.folder.path.appending("app").string
                let written = try await Program.run([
                    "partner", "plan", triggered.folder.path.appending("tasks.yml").string, "--triggers", "--out", out,
                ])
                #expect(written.exitCode == 0, "\(written.errors)")
                let node = NodeFunctions(database: triggered.database, folder: triggered.folder)
                for change in Self.changes {
                    try await apply(change, to: mirrored.database)
                    #expect(try await mirrored.run("mirror", "--once").exitCode == 0)
                    try await apply(change, to: triggered.database)
                    let run = try await node.run("\(out)/functions/tasks_from_\(change.side).js", id: id(change))
                    #expect(run.writes <= 1)
                    // In App Services, this write would fire the trigger of the other collection. The test calls the
                    // function of that trigger itself, and the function must not write.
                    let other = change.side == "source" ? "target" : "source"
                    let twin = Change(side: other, number: change.number, update: nil)
                    if run.writes > 0 {
                        let echo = try await node.run("\(out)/functions/tasks_from_\(other).js", id: id(twin))
                        #expect(echo.writes == 0, "\(change)")
                    }
                }
                for collection in ["Task", "TaskV2"] {
                    let one = try await mirrored.database.documents(collection)
                    let two = try await triggered.database.documents(collection)
                    #expect(one.map { $0["_id"] } == two.map { $0["_id"] }, "\(collection)")
                    for (one, two) in zip(one, two) {
                        let (left, right) = (try one.ordered.extendedJSON(), try two.ordered.extendedJSON())
                        #expect(left == right, "\(collection)")
                    }
                }
                let trigger = try #require(triggered.folder.text(of: "app/triggers/tasks_from_source.json"))
                let json = try #require(try BSONValue(extendedJSON: trigger).document)
                #expect(
                    json["config"]?.document?["operation_types"] == [
                        "INSERT", "UPDATE", "REPLACE", "DELETE",
                    ])
                #expect(json["config"]?.document?["collection"] == "Task")
            }
        }
    }

    /// The trigger function converts a text `_id` to the same int or long as the mirror, or refuses the text as the
    /// mirror does.
    @Test func aTextBecomesTheSameNumberAsInTheMirror() async throws {
        let job = """
            id: {from: string, to: int}
            \(PartnerCase.renaming)
            """
        let texts = [
            "0", "-7", "2147483647", "2147483648", "-2147483648", "-2147483649", "3000000000", "10000000000",
            "9007199254740993", "9223372036854775807", "-9223372036854775808",
        ]
        func originals(_ texts: [String]) -> [BSONDocument] {
            texts.map { ["_id": .string($0), "title": .string("task \($0)")] }
        }
        let mongod = try await Mongod.shared
        try await mongod.withPartner { mirrored in
            try await mongod.withPartner { triggered in
                for test in [mirrored, triggered] {
                    try test.job(job)
                    try await test.database.fill("Task", originals(texts))
                }
                try #require(try await mirrored.run("init").exitCode == 0)
                let out = triggered.folder.path.appending("app").string
                let written = try await Program.run([
                    "partner", "plan", triggered.folder.path.appending("tasks.yml").string, "--triggers", "--out", out,
                ])
                #expect(written.exitCode == 0, "\(written.errors)")
                let node = NodeFunctions(database: triggered.database, folder: triggered.folder)
                let file = "\(out)/functions/tasks_from_source.js"
                for text in texts { #expect(try await node.run(file, id: .string(text)).writes == 1, "\(text)") }
                let one = try await mirrored.partners().map { try $0.ordered.extendedJSON() }
                let two = try await triggered.partners().map { try $0.ordered.extendedJSON() }
                #expect(one.count == texts.count && one == two)
                let others = ["-0", "007", "+1", "1e3", "9223372036854775808", "-9223372036854775809"]
                for test in [mirrored, triggered] { try await test.database.fill("Task", originals(others)) }
                for text in others {
                    let run = try await node.run(file, id: .string(text))
                    #expect(run.writes == 0 && run.said.contains("its _id cannot be converted"), "\(text)")
                }
                _ = try await mirrored.mirrored()
                #expect(try await mirrored.partners().count == texts.count)
            }
        }
    }
}
