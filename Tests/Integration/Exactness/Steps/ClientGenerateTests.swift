import BSON
import Glibc
import TestSupport
import Testing

/// Tests ids that the client derives from the job and the `_id` of the document.
@Suite struct ClientGenerateTests {
    private static let documents = 120

    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: Self.documents) { number in
                var document: BSONDocument = ["_id": .integer(number)]
                if number % 4 == 0 { document = document.appending("key", number % 8 == 0 ? "kept" : nil) }
                return document.appending("z", 1)
            }
            try await body(test)
        }
    }

    @Test(arguments: ["uuid", "objectId"]) func everyDocumentGetsAnIDOfItsOwn(_ type: String) async throws {
        try await withPeople { test in
            try test.job(
                steps: ["default: {field: key, generate: \(type), when: missingOrNull}"],
                limits: "{chunk: {documents: 50}}")
            let before = try await test.database.documents("people")
            let dry = try test.report(try await test.backfill("job", "--dry-run", "--output", "json"))
            #expect(try await test.database.documents("people") == before)
            let run = try await test.backfill("job", "--output", "json")
            #expect(run.exitCode == 0, "\(run.errors)")
            let done = try test.report(run)
            for name in ["changed", "chunks", "documents", "steps"] { #expect(dry[name] == done[name], "\(name)") }
            #expect(done["changed"]?.integer == 105)
            let after = try await test.database.documents("people")
            let ids = after.compactMap { $0["key"] }.filter { $0 != "kept" }
            #expect(Set(ids).count == 105)
            for id in ids {
                switch id {
                case .objectID: #expect(type == "objectId")
                case .binary(let subtype, let bytes):
                    #expect(type == "uuid" && subtype == 4 && bytes.count == 16)
                    #expect(bytes[6] >> 4 == 8 && bytes[8] >> 6 == 2, "version 8, the variant of RFC 9562")
                default: Issue.record("\(id.type)")
                }
            }
            let again = try await test.backfill("job", "--output", "json")
            #expect(again.exitCode == 0, "\(again.errors)")
            #expect(try test.report(again)["changed"] == 0)
            #expect(try await test.database.documents("people") == after)
        }
    }

    /// A run is killed, and a second run finishes the job.
    ///
    /// Together they generate the same ids as an uninterrupted run.
    @Test func anInterruptedRunEndsLikeOneThatWasNot() async throws {
        try await withPeople { test in
            try test.job(steps: ["default: {field: key, generate: uuid}"], limits: "{chunk: {documents: 25}}")
            let whole = try await test.backfill()
            #expect(whole.exitCode == 0, "\(whole.errors)")
            let expected = try await test.database.documents("people")
            try await test.state.run(["dropDatabase": 1])
            try await test.database.run([
                "update": "people",
                "updates": [["q": ["key": ["$type": "binData"]], "u": ["$unset": ["key": ""]], "multi": true]],
            ])
            let killed = try await test.backfill(fault: "after-write:2")
            #expect(killed.wasKilled)
            #expect(try await test.database.count("people", ["key": ["$type": "binData"]]) > 0)
            try await test.waitForLeaseEnd()
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)")
            let ids = { (documents: [BSONDocument]) in
                Dictionary(uniqueKeysWithValues: documents.map { ($0["_id"], $0["key"]) })
            }
            #expect(ids(try await test.database.documents("people")) == ids(expected))
        }
    }

    /// A user sets the field `key` after the run has read the document, and before the run writes it.
    ///
    /// The run keeps the user's value.
    @Test func aFieldThatAUserFillsDuringTheRunKeepsTheUsersValue() async throws {
        try await withPeople { test in
            try test.job(steps: ["default: {field: key, generate: uuid}"])
            let run = try await test.backfill(fault: "before-write:1") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                try await test.database.run([
                    "update": "people", "updates": [["q": ["_id": 1], "u": ["$set": ["key": "the user's"]]]],
                ])
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.count("people", ["_id": 1, "key": "the user's"]) == 1)
            #expect(try await test.database.count("people", ["key": ["$type": "binData"]]) == 89)
        }
    }

    /// The collection's validator refuses one document.
    ///
    /// The run skips this document, and writes the others.
    @Test func aDocumentThatIsRefusedIsSkipped() async throws {
        try await withPeople { test in
            try test.job(steps: ["default: {field: key, generate: uuid}"], limits: "{chunk: {documents: 40}}")
            try await test.database.run([
                "collMod": "people", "validator": ["$or": [["_id": ["$ne": 1]], ["key": ["$exists": false]]]],
            ])
            let run = try await test.backfill("job", "--output", "json")
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(try await test.database.count("people", ["key": ["$exists": false]]) == 1)
            let failed = try await test.state.documents("failed")
            #expect(failed.map { $0["_id"]?.document?["id"] } == [1])
            #expect(failed.first?["code"]?.integer == 121)
        }
    }
}
