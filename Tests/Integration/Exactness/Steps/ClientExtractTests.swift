import BSON
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Tests steps that move embedded objects into another collection and leave links to them.
@Suite(.fencedDeletes) struct ClientExtractTests {
    private func extract(_ test: BackfillCase, _ id: String, limits: String? = nil) throws {
        try test.job(
            steps: ["extract: {field: home, to: \(test.database.name).homes, \(id)}"], limits: limits)
    }

    /// Returns the value of `home` in each document, with each link replaced by the linked document without its `_id`.
    ///
    /// If the links are right, this is the value before the job.
    private func joined(_ test: BackfillCase) async throws -> [BSONValue?] {
        let homes = Dictionary(
            uniqueKeysWithValues: try await test.database.documents("homes").map { ($0["_id"] ?? .null, $0) })
        let object = { (link: BSONValue) throws -> BSONValue in
            guard let home = homes[link] else { return link }
            return .object(try home.removing("_id"))
        }
        return try await test.database.documents("people").map { person in
            guard let home = person["home"] else { return .none }
            guard case .array(let list) = home else { return try object(home) }
            return .array(of: try list.values.map(object))
        }
    }

    @Test func whatIsNoObjectIsReported() async throws {
        let documents: [BSONDocument] = [["h": "x"], ["h": 5], ["h": nil], [:], ["h": []]]
        try await StepsExample(
            steps: ["extract: {field: h, to: DATABASE.homes, generate: objectId}"], before: documents, after: documents,
            reports: true
        ).check()
    }

    @Test(arguments: ["objectId", "uuid"]) func eachObjectBecomesADocumentAndALink(_ type: String) async throws {
        try await Mongod.shared.withBackfill { test in
            let homes: [BSONValue?] = [
                ["city": "Bern"], ["city": "Bern"],
                [["city": "Ulm"], ["city": "Ulm"], ["city": "Jena", "deep": [1, 2.0]]],
                nil, .null, [], "text", [:],
            ]
            try await test.database.fill(
                "people",
                homes.enumerated().map { index, home in
                    BSONDocument([("_id", .integer(index))] + (home.map { [("home", $0)] } ?? []) + [("z", 1)])
                })
            try extract(test, "generate: \(type)")
            // The text is no object, and is reported.
            let report = try await test.runThreeTimes(exitCode: 1)
            #expect(report["changed"]?.integer == 4)
            #expect(report.skipped("value is of another type") == 1)
            #expect(try await test.database.documents("homes").count == 6)
            #expect(try await joined(test) == homes)
            let expected = type == "uuid" ? "binData" : "objectId"
            #expect(try await test.database.count("people", ["home": ["$type": .string(expected)]]) == 4)
        }
    }

    @Test func theIDCanComeFromTheObject() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill(
                "homes", [["_id": 7, "city": "a user's"], ["_id": 8, "key": 8, "city": "Ulm"]])
            try await test.database.fill(
                "people",
                [
                    ["_id": 1, "home": ["key": 1, "city": "Bern"]], ["_id": 2, "home": ["key": 1, "city": "Bern"]],
                    ["_id": 3, "home": ["key": 2, "city": "Jena"]], ["_id": 4, "home": ["key": 2, "city": "Ulm"]],
                    ["_id": 5, "home": ["city": "no key"]], ["_id": 6, "home": ["key": [1]]],
                    ["_id": 7, "home": ["key": 7, "city": "Bonn"]], ["_id": 8, "home": ["key": 8, "city": "Ulm"]],
                ])
            try extract(test, "idFrom: key")
            let report = try await test.runThreeTimes(exitCode: 1)
            #expect(report["changed"]?.integer == 3)
            #expect(report.skipped("another document has that _id") == 3)
            #expect(report.skipped("the object has no value that can be an _id") == 2)
            #expect(
                try await test.database.documents("homes") == [
                    ["_id": 1, "key": 1, "city": "Bern"], ["_id": 7, "city": "a user's"],
                    ["_id": 8, "key": 8, "city": "Ulm"],
                ])
            #expect(try await test.database.documents("people")[7] == ["_id": 8, "home": 8])
        }
    }

    /// Writes an app export with schemas for the given collections of the test's database.
    ///
    /// - Parameter collections: the title of each collection's schema, and one property besides `_id`.
    private func app(
        _ folder: String, in test: BackfillCase, _ collections: KeyValuePairs<String, (title: String, property: String)>
    ) throws {
        func write(_ path: String, _ text: String) throws {
            let file = test.folder.pushing(FilePath("\(folder)/\(path)"))
            try FileManager.default.createDirectory(
                atPath: file.removingLastComponent().string, withIntermediateDirectories: true)
            try test.write("\(folder)/\(path)", text)
        }
        try write("root_config.json", #"{ "name": "fleet", "config_version": 20210101 }"#)
        try write("data_sources/atlas/config.json", #"{ "name": "atlas", "type": "mongodb-atlas", "config": {} }"#)
        for (collection, schema) in collections {
            try write(
                "data_sources/atlas/\(test.database.name)/\(collection)/schema.json",
                #"{"title": "\#(schema.title)", "properties": {"_id": {}, \#(schema.property)}}"#)
        }
    }

    /// The run skips a document if its embedded object has an `_id`, because the `_id` would be lost.
    ///
    /// The run also skips a document if the object does not fit the schema of the collection into which it is moved.
    @Test func valuesThatWouldBeLostOrNotFitAreSkipped() async throws {
        try await Mongod.shared.withBackfill { test in
            let name = test.database.name
            try await test.database.fill(
                "people",
                [
                    ["_id": 1, "home": ["city": "Bern"]], ["_id": 2, "home": ["_id": 7, "city": "Ulm"]],
                    ["_id": 3, "home": ["city": 5]], ["_id": 4, "home": [["city": "Jena"], ["city": 5]]],
                ])
            let people = try await test.database.documents("people")
            try app(
                "next", in: test,
                ["people": ("Person", #""home": {}"#), "homes": ("Home", #""city": {"bsonType": "string"}"#)])
            try test.job(
                steps: ["extract: {field: home, to: \(name).homes, generate: objectId}"], more: "schema: {next: next}")
            let report = try await test.runThreeTimes(exitCode: 1)
            #expect(report["changed"]?.integer == 1)
            #expect(report.skipped("the object has an _id of its own, which would be lost") == 1)
            #expect(report.skipped("the object does not fit the schema of the collection that would take it") == 2)
            #expect(try await test.database.count("homes") == 1)
            #expect(Array(try await test.database.documents("people").dropFirst()) == Array(people.dropFirst()))
        }
    }

    /// Two runs are killed, and the third run finishes the job with exactly one home for each person.
    ///
    /// Both runs are killed after they have inserted the objects of a chunk into `homes`, and before they replace these
    /// objects by links. The inserts belong to the chunk's transaction, so they leave no trace.
    @Test func aRunThatDiesBetweenTheTwoIsEndedWithoutATrace() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 90) { number in
                ["_id": .integer(number), "home": ["city": .integer(number)]]
            }
            try extract(test, "generate: uuid", limits: "{chunk: {documents: 30}}")
            for visit in [1, 2] {
                let killed = try await test.backfill(fault: "after-creation:\(visit)")
                #expect(killed.wasKilled)
                #expect(
                    try await test.database.documents("homes").count
                        == test.database.count("people", ["home": ["$type": "binData"]]))
                try await test.waitForLeaseEnd()
            }
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.documents("homes").count == 90)
            #expect(try await joined(test) == (0..<90).map { ["city": .integer($0)] })
        }
    }

    /// A runner is stopped until its lease has ended.
    ///
    /// When it continues, it inserts no document into `homes`.
    @Test func aFencedOffRunnerMakesNothing() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 20) { ["_id": .integer($0), "home": ["city": .integer($0)]] }
            try extract(test, "generate: objectId")
            let first = try await test.backfill(fault: "before-write:1") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                try await test.database.run([
                    "update": "people", "updates": [["q": [:], "u": ["$set": ["home": "moved"]], "multi": true]],
                ])
                let second = try await test.backfill("job", "SHIPSHAPE_LEASE_WAIT=20s", uri: test.mongod.uri)
                // The second runner finds texts, which are no objects.
                #expect(second.exitCode == 1, "\(second.errors)")
            }
            #expect(first.exitCode == 76, "\(first.errors)")
            #expect(try await test.database.documents("homes").isEmpty)
            #expect(try await test.database.count("people", ["home": "moved"]) == 20)
        }
    }

    @Test func anObjectThatAUserChangesDuringTheRunIsExtractedAsChanged() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 5) { ["_id": .integer($0), "home": ["city": .integer($0)]] }
            try extract(test, "generate: objectId")
            let run = try await test.backfill(fault: "before-write:1") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                try await test.database.run([
                    "update": "people", "updates": [["q": ["_id": 2], "u": ["$set": ["home.city": "moved"]]]],
                ])
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(
                try await joined(test) == [0, 1, "moved", 3, 4].map { (city: BSONValue) in ["city": city] })
        }
    }
}
