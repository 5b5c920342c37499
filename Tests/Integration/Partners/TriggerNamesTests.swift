import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests that the functions that `partner plan --triggers` generates treat the names of collections, services and
/// fields as data, whatever characters these names contain.
@Suite struct TriggerNamesTests {
    /// Names with characters that end or escape a JavaScript comment or string, most of them followed by code.
    private static let hostile = [
        "\nthrow new Error(1)//", "\u{2028}throw new Error(2)//", "\u{2029}throw new Error(3)//",
        #"")); throw new Error(4); (("#, "</script>\u{7F}`{context}`'", #"a\"#,
    ]

    /// Generates the functions of a job with `partner plan --triggers`, and returns the folder of the app.
    private func generate(
        _ body: String, of test: PartnerCase, source: String = "Task", target: String = "TaskV2",
        service: String = "mongodb-atlas"
    ) async throws -> FilePath {
        let (from, to) = (test.database.namespace(source), test.database.namespace(target))
        let job = try test.folder.write(
            """
            partner: tasks
            source: \("\(from)".quotedAsYAML)
            target: \("\(to)".quotedAsYAML)
            \(body)

            """, to: "tasks.yml")
        let out = test.folder.path.appending("app")
        let run = try await Program.run([
            "partner", "plan", job, "--triggers", "--out", out.string, "--service", service,
        ])
        try #require(run.exitCode == 0, "\(run.errors)")
        return out
    }

    private func document(_ field: String) -> BSONDocument {
        var builder = BSONBuilder()
        builder.append("_id", .integer(1))
        builder.append(field, .string("one"))
        return builder.finish()
    }

    @Test(arguments: hostile) func aNameRunsNoCode(_ name: String) async throws {
        try await Mongod.shared.withPartner { test in
            let (source, target) = ("Task\(name)", "TaskV2\(name)")
            let body = """
                forward: [rename: {from: \("t\(name)".quotedAsYAML), to: \("n\(name)".quotedAsYAML)}]
                reverse: [rename: {from: \("n\(name)".quotedAsYAML), to: \("t\(name)".quotedAsYAML)}]
                only: {source: [\("s\(name)".quotedAsYAML)], target: [\("o\(name)".quotedAsYAML)]}
                """
            let app = try await generate(body, of: test, source: source, target: target, service: "s\(name)")
            let node = NodeFunctions(database: test.database, folder: test.folder)
            try await test.database.fill(source, [document("t\(name)")])
            let run = try await node.run(app.appending("functions/tasks_from_source.js").string, id: 1)
            #expect(run.said == "")
            #expect(try await test.database.documents(target) == [document("n\(name)")])
            for file in ["functions/tasks_from_source.js", "triggers/tasks_from_source.json", "functions/config.json"] {
                let text = try #require(test.folder.text(of: "app/\(file)"))
                #expect(!text.contains("</") && !text.unicodeScalars.contains { $0.misleads && $0 != "\n" }, "\(file)")
            }
            let trigger = try #require(test.folder.text(of: "app/triggers/tasks_from_source.json"))
            let config = try BSONDocument(extendedJSON: trigger)["config"]?.document
            #expect(config?["collection"] == .string(source) && config?["service_name"] == .string("s\(name)"))
        }
    }

    /// The generated functions copy a field named `__proto__` to the other collection.
    ///
    /// A JavaScript assignment to `__proto__` does not make such a field, because it sets the prototype of an object.
    @Test func aFieldNamedProtoIsCarried() async throws {
        try await Mongod.shared.withPartner { test in
            let app = try await generate(
                """
                forward: [rename: {from: title, to: __proto__}]
                reverse: [rename: {from: __proto__, to: title}]
                """, of: test)
            let (database, node) = (test.database, NodeFunctions(database: test.database, folder: test.folder))
            let (forward, reverse) = (
                app.appending("functions/tasks_from_source.js").string,
                app.appending("functions/tasks_from_target.js").string
            )
            try await database.fill("Task", [["_id": 1, "title": ["a": 1], "deep": ["__proto__": ["b": 1]]]])
            #expect(try await node.run(forward, id: 1).writes == 1)
            #expect(
                try await database.documents("TaskV2").map(\.ordered)
                    == [["__proto__": ["a": 1], "_id": 1, "deep": ["__proto__": ["b": 1]]]])
            #expect(try await node.run(reverse, id: 1).writes == 0)
            // These changes affect only a value below `__proto__`.
            for (number, path) in [(2, "deep.__proto__.b"), (3, "__proto__.a")] {
                let change: BSONValue = ["$set": .object(BSONDocument([(path, .integer(number))]))]
                try await database.update("TaskV2", ["_id": 1], change)
                #expect(try await node.run(reverse, id: 1).writes == 1, "\(path)")
                #expect(try await node.run(forward, id: 1).writes == 0, "\(path)")
            }
            #expect(
                try await database.documents("Task").map(\.ordered)
                    == [["_id": 1, "deep": ["__proto__": ["b": 2]], "title": ["a": 3]]])
        }
    }

    /// A field that only the partner collection has keeps its value, even if every JavaScript object inherits a member
    /// of that name.
    @Test func aFieldOfOneSideMayHaveTheNameOfAnInheritedMember() async throws {
        try await Mongod.shared.withPartner { test in
            let app = try await generate("only: {target: [__proto__, toString, constructor]}", of: test)
            let (database, node) = (test.database, NodeFunctions(database: test.database, folder: test.folder))
            try await database.fill("Task", [["_id": 1, "title": "new"]])
            try await database.fill("TaskV2", [["_id": 1, "title": "old", "__proto__": ["a": 1], "constructor": 5]])
            let forward = app.appending("functions/tasks_from_source.js").string
            #expect(try await node.run(forward, id: 1).writes == 1)
            #expect(
                try await database.documents("TaskV2").map(\.ordered)
                    == [["__proto__": ["a": 1], "_id": 1, "constructor": 5, "title": "new"]])
            #expect(try await node.run(forward, id: 1).writes == 0)
        }
    }
}
