import BSON
import Glibc
import TestSupport
import Testing

/// Tests that the step `extract` skips a document whose object cannot be inserted, and changes the others.
@Suite(.fencedDeletes) struct ExtractBlockedTests {
    /// A test case in which an object cannot be inserted into the collection `homes`.
    ///
    /// The case has the object, the documents that `homes` already has, and the options and a unique index of `homes`.
    struct Block: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var there: [BSONDocument] = []
        var object: BSONDocument
        var create: BSONDocument = [:]
        var index: BSONDocument?
    }

    private static let half = BSONValue.decimal(Decimal128(high: 6_175 << 49, low: 5))

    static let blocks = [
        Block(
            testDescription: "another", there: [["_id": 99, "city": "a user's"]], object: ["key": 99, "city": "Bern"]),
        Block(testDescription: "another type", there: [["_id": half]], object: ["key": 0.5, "city": "Bern"]),
        Block(
            testDescription: "the same but for the type", there: [["_id": .double(99), "key": 99, "city": "Bern"]],
            object: ["key": 99, "city": "Bern"]),
        Block(
            testDescription: "another text, which the collation takes for equal",
            there: [["_id": "a", "city": "a user's"]], object: ["key": "A", "city": "Bern"],
            create: ["collation": ["locale": "en", "strength": 2]]),
        Block(
            testDescription: "unique index", there: [["_id": 98, "city": "Bern"]], object: ["key": 99, "city": "Bern"],
            index: ["city": 1]),
        Block(
            testDescription: "validator", object: ["key": 99, "city": "Bern"],
            create: ["validator": ["city": ["$ne": "Bern"]]]),
        Block(testDescription: "an id that none can have", object: ["key": .regex(pattern: "x", options: "")]),
    ]

    @Test(arguments: blocks) func isSkippedAndNamedWhileTheOthersAreDone(_ block: Block) async throws {
        try await Mongod.shared.withBackfill { test in
            let create = BSONDocument([("create", "homes")] + (try block.create.elements()).map { ($0.name, $0.value) })
            try await test.database.run(create)
            if !block.there.isEmpty { try await test.database.fill("homes", block.there) }
            if let index = block.index {
                try await test.database.run([
                    "createIndexes": "homes", "indexes": [["key": .object(index), "name": "unique", "unique": true]],
                ])
            }
            try await test.database.fill("people", count: 6) { id in
                [
                    "_id": .integer(id),
                    "home": id == 3
                        ? .object(block.object) : ["key": .integer(id), "n": .integer(id), "city": .integer(id)],
                ]
            }
            let original = try await test.database.documents("people")
            try test.job(steps: ["extract: {field: home, to: \(test.database.name).homes, idFrom: key}"])
            for _ in 0..<2 {
                let run = try await test.backfill("job", "--output", "json")
                #expect(run.exitCode == 1, "\(run.status): \(run.errors)")
                let people = try await test.database.documents("people")
                #expect(people[3] == original[3])
                #expect(people.filter { $0["home"]?.document == nil }.count == 5)
                let homes = try await test.database.documents("homes")
                #expect(homes.count == block.there.count + 5)
                #expect(Set(homes).isSuperset(of: block.there))
            }
            let undone = try await test.undo()
            #expect(undone.exitCode == 0, "\(undone.output) \(undone.errors)")
            #expect(try await test.database.documents("people") == original)
            #expect(try await Set(test.database.documents("homes")) == Set(block.there))
        }
    }

    /// Objects with field names and values that a pipeline of the server might misread.
    static let odd: [BSONDocument] = [
        ["list": .array(BSONDocument([("5", 1), ("5", 2)]))], BSONDocument([("a", 1), ("a", 2)]), ["$x": 1, "y": "$y"],
        ["a.b": 1, "": 2], ["at": ["t": .timestamp(0)]],
    ]

    @Test(arguments: odd) func anOddObjectKeepsItsBytes(_ object: BSONDocument) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", [["_id": 1, "home": .object(object)]])
            let original = try await test.database.documents("people")
            try test.job(steps: ["extract: {field: home, to: \(test.database.name).homes, generate: objectId}"])
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)")
            let home = try #require(try await test.database.documents("homes").first)
            #expect(try BSONDocument(home.elements().dropFirst().map { ($0.name, $0.value) }) == object)
            let undone = try await test.undo()
            #expect(undone.exitCode == 0, "\(undone.output) \(undone.errors)")
            #expect(try await test.database.documents("people") == original)
            #expect(try await test.database.count("homes") == 0)
        }
    }

    /// Another client inserts a document into `homes` just before the run inserts one with the same `_id`.
    ///
    /// The run extracts a person's `home` into this document. It has already found that the `_id` is free. It does
    /// not overwrite the other client's document, and the person keeps the object in `home`.
    @Test func anIndexThatAnotherClientMakesInBetweenIsKeptToo() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 6) {
                ["_id": .integer($0), "home": ["key": .integer($0 + 100), "city": "Oslo"]]
            }
            try test.job(steps: ["extract: {field: home, to: \(test.database.name).homes, idFrom: key}"])
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "before-write:1:stop") {
                program in
                try await waitUntil("the runner stands before its write") { try program.isStopped }
                try await test.database.fill("homes", [["_id": 103, "city": "a user's"]])
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.contains("another document has that _id: 1"), "\(run.output)")
            #expect(try await test.database.count("people", ["home.city": ["$exists": true]]) == 1)
            #expect(try await test.database.documents("homes", ["_id": 103]) == [["_id": 103, "city": "a user's"]])
        }
    }

    /// A user changes a person's `home` after the run has inserted it into `homes`, and before a link replaces it.
    ///
    /// The server refuses the transaction, which inserts the document into `homes` too, so the run begins again with
    /// the changed `home`.
    @Test func anObjectThatAUserChangesIsExtractedAsChanged() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 6) {
                ["_id": .integer($0), "home": ["key": .integer($0 + 100), "city": "Oslo"]]
            }
            try test.job(steps: ["extract: {field: home, to: \(test.database.name).homes, idFrom: key}"])
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "after-creation:1:stop") {
                program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                try await test.database.set("people", 3, ["home.city": "Bergen"])
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.documents("people", ["_id": 3]) == [["_id": 3, "home": 103]])
            let home = try await test.database.documents("homes", ["_id": 103])
            #expect(home == [["_id": 103, "key": 103, "city": "Bergen"]])
        }
    }
}
