import BSON
import Foundation
import TestSupport
import Testing

/// Tests the result and the refusals of `partner init`, and that the next run continues a copy that a killed run began.
@Suite struct PartnerInitTests {
    @Test func everyDocumentIsThereInItsNewShape() async throws {
        try await Mongod.shared.withPartner { test in
            try test.job()
            try await test.load(1_300)
            let run = try await test.run("init")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.hasPrefix("1,300 documents copied to \(test.database.name).TaskV2"), "\(run.output)")
            let partners = try await test.partners()
            #expect(partners.count == 1_300)
            let twelfth = try #require(partners.first { $0["_id"] == .string("\(PartnerCase.id(16))") })
            #expect(twelfth["name"] == "task 16")
            #expect(twelfth["priority"] == "1")
            #expect(twelfth["parent"] == .string("\(PartnerCase.id(4))"))
            let sixth = try #require(partners.first { $0["_id"] == .string("\(PartnerCase.id(6))") })
            #expect(sixth["priority"] == nil && sixth["parent"] == nil && sixth["legacy"] == nil)
            #expect(try await test.run("verify").exitCode == 0)
        }
    }

    @Test func indexesCollationAndValidatorGoOver() async throws {
        try await Mongod.shared.withPartner { test in
            try test.job("forward: [rename: {from: title, to: name}]\nreverse: [rename: {from: name, to: title}]")
            try await test.database.run([
                "create": "Task", "collation": ["locale": "de", "strength": 2],
                "validator": ["$jsonSchema": ["required": ["tags"]]], "validationAction": "warn",
            ])
            try await test.database.run([
                "createIndexes": "Task",
                "indexes": [
                    ["key": ["title": 1, "priority": -1], "name": "byTitle", "unique": true],
                    ["key": ["tags": 1], "name": "byTags", "sparse": true],
                ],
            ])
            try await test.load(50)
            #expect(try await test.run("init").exitCode == 0)
            let indexes = try await test.database.run(["listIndexes": "TaskV2"])
            let specs = indexes["cursor"]?.document?["firstBatch"]?.document?.values.compactMap(\.document) ?? []
            #expect(Set(specs.compactMap { $0["name"]?.text }) == ["_id_", "byTitle", "byTags"])
            let byTitle = try #require(specs.first { $0["name"] == "byTitle" })
            #expect(byTitle["key"] == ["name": 1, "priority": -1] && byTitle["unique"] == true)
            let reply = try await test.database.run(["listCollections": 1, "filter": ["name": "TaskV2"]])
            let options = reply["cursor"]?.document?["firstBatch"]?.document?.values.first?.document?["options"]?
                .document
            #expect(options?["collation"]?.document?["locale"] == "de")
            #expect(options?["validator"] == ["$jsonSchema": ["required": ["tags"]]])
            #expect(options?["validationAction"] == "warn")
        }
    }

    @Test func aPartialIndexWhoseFilterNamesARenamedOrRemovedFieldIsLeftOut() async throws {
        try await Mongod.shared.withPartner { test in
            try test.job("\(PartnerCase.renaming)\nonly: {source: [legacy]}")
            try await test.load(20)
            let exists: BSONValue = ["$exists": true]
            try await test.database.run([
                "createIndexes": "Task",
                "indexes": [
                    ["key": ["tags": 1], "name": "ofRenamed", "partialFilterExpression": ["title": exists]],
                    [
                        "key": ["tags": -1], "name": "ofRemoved",
                        "partialFilterExpression": ["$and": [["priority": exists], ["legacy": exists]]],
                    ],
                    ["key": ["parent": 1], "name": "ofKept", "partialFilterExpression": ["priority": exists]],
                ],
            ])
            let run = try await test.run("init")
            #expect(run.exitCode == 0, "\(run.errors)")
            for (name, reason) in [("ofRenamed", ": its fields have other names"), ("ofRemoved", ", which has no")] {
                let note = "the index \(name) is not created on the partner\(reason)"
                #expect(run.errors.contains(note), "\(run.errors)")
            }
            let indexes = try await test.database.run(["listIndexes": "TaskV2"])
            let specs = indexes["cursor"]?.document?["firstBatch"]?.document?.values.compactMap(\.document) ?? []
            #expect(specs.compactMap { $0["name"]?.text } == ["_id_", "ofKept"])
        }
    }

    @Test func documentsThatWouldNotComeBackAreListedAndNothingIsWritten() async throws {
        try await Mongod.shared.withPartner { test in
            try test.job()
            try await test.load(20)
            try await test.database.fill(
                "Task",
                [
                    ["_id": .objectID(PartnerCase.id(101)), "title": "a", "priority": "07"],
                    ["_id": .objectID(PartnerCase.id(102)), "title": "b", "priority": 2.0],
                    ["_id": .objectID(PartnerCase.id(103)), "title": "c", "name": "d"],
                    ["_id": "text", "title": "e"],
                ])
            let run = try await test.run("init")
            #expect(run.exitCode == 1)
            #expect(run.output.contains("4 documents cannot be carried over without loss"), "\(run.output)")
            #expect(run.output.contains("would come back changed: priority"), "\(run.output)")
            #expect(run.output.contains("its _id cannot be converted to the other side"), "\(run.output)")
            #expect(run.output.contains("target holds another value"), "\(run.output)")
            #expect(try await test.partners().isEmpty)
            #expect(try await test.state.documents("streams").isEmpty)
        }
    }

    @Test func aUniqueIndexThatWouldBreakIsFoundBeforehand() async throws {
        try await Mongod.shared.withPartner { test in
            // The forward step converts the codes to lower case, so the codes of both tasks become "a".
            try test.job(
                """
                forward: [expression: {field: code, value: {$toLower: "$code"}, when: {$ne: ["$code", null]}}]
                reverse: []
                """)
            try await test.database.run([
                "createIndexes": "Task", "indexes": [["key": ["code": 1], "name": "byCode", "unique": true]],
            ])
            try await test.database.fill("Task", [["_id": 1, "code": "A"], ["_id": 2, "code": "a"]])
            let run = try await test.run("init")
            #expect(run.exitCode == 1)
            #expect(run.output.contains("the unique index byCode of the partner would be violated"), "\(run.output)")
            #expect(try await test.partners().isEmpty)
        }
    }

    @Test func aKilledCopyContinuesWhereItWas() async throws {
        try await Mongod.shared.withPartner { test in
            try test.job()
            try await test.load(3_000)
            for visit in [1, 3] {
                let run = try await test.run("init", fault: "after-checkpoint:\(visit)")
                #expect(run.wasKilled, "\(run.errors)")
                try await test.endLease()
            }
            let written = try await test.run("init", fault: "after-write:2:kill")
            #expect(written.wasKilled, "\(written.errors)")
            try await test.endLease()
            #expect(try await test.partners().count < 3_000)
            let run = try await test.run("init")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.contains("of earlier runs"), "\(run.output)")
            #expect(try await test.partners().count == 3_000)
            #expect(try await test.run("verify").exitCode == 0)
            let again = try await test.run("init")
            #expect(again.exitCode == 0 && again.output.hasPrefix("0 documents copied"), "\(again.output)")
        }
    }

    @Test(arguments: 1...5) func aRunAfterAKillBeforeTheFirstDocumentCreatesThePartnerAndItsIndexes(_ write: Int)
        async throws
    {
        try await Mongod.shared.withPartner { test in
            try test.job("forward: [rename: {from: title, to: name}]\nreverse: [rename: {from: name, to: title}]")
            try await test.database.run([
                "create": "Task", "validator": ["$jsonSchema": ["required": ["tags"]]], "validationAction": "warn",
            ])
            try await test.database.run([
                "createIndexes": "Task", "indexes": [["key": ["title": 1], "name": "byTitle"]],
            ])
            try await test.load(50)
            #expect(try await test.run("init", fault: "after-state-write:\(write):kill").wasKilled)
            try await test.endLease()
            let again = try await test.run("init")
            #expect(again.exitCode == 0, "\(again.errors)")
            #expect(try await test.partners().count == 50)
            let indexes = try await test.database.run(["listIndexes": "TaskV2"])
            let specs = indexes["cursor"]?.document?["firstBatch"]?.document?.values.compactMap(\.document) ?? []
            #expect(specs.compactMap { $0["name"]?.text } == ["_id_", "byTitle"])
            let reply = try await test.database.run(["listCollections": 1, "filter": ["name": "TaskV2"]])
            let options = reply["cursor"]?.document?["firstBatch"]?.document?.values.first?.document?["options"]?
                .document
            #expect(options?["validator"] == ["$jsonSchema": ["required": ["tags"]]])
        }
    }

    @Test func aTargetThatIsThereAndAChangedJobAreRefused() async throws {
        try await Mongod.shared.withPartner { test in
            try test.job()
            try await test.load(10)
            try await test.database.fill("TaskV2", [["_id": "mine"]])
            let there = try await test.run("init")
            #expect(there.exitCode == 65)
            #expect(there.errors.contains("already exists, and holds documents"), "\(there.errors)")
            try await test.database.run(["drop": "TaskV2"])
            #expect(try await test.run("init").exitCode == 0)
            try test.job(PartnerCase.documented + "\n# Reviewed.")
            #expect(try await test.run("init").exitCode == 0, "a comment changes nothing")
            try test.job(PartnerCase.documented + "\ndrops: follow")
            let changed = try await test.run("init")
            #expect(changed.exitCode == 65)
            #expect(changed.errors.contains("the job file's text changed"), "\(changed.errors)")
        }
    }

    @Test func documentsThatWouldNotSyncNeedRoomBelowTheLimit() async throws {
        try await Mongod.shared.withPartner { test in
            try test.folder.write(
                """
                { "title": "TaskV2", "bsonType": "object", "required": ["_id", "priority"], "properties": {
                  "_id": { "bsonType": "string" }, "name": { "bsonType": "string" },
                  "priority": { "bsonType": "string" }, "parent": { "bsonType": "string" },
                  "tags": { "bsonType": "array", "items": { "bsonType": "mixed" } } } }
                """, to: "v2.json")
            try test.job(PartnerCase.documented + "\nschema: {target: v2.json}\nlimits: {unsynced: 30, reserve: 0}")
            try await test.load(90)
            let refused = try await test.run("init")
            #expect(refused.exitCode == 1)
            #expect(refused.errors.contains("30 documents of"), "\(refused.errors)")
            #expect(try await test.partners().isEmpty)
            #expect(try await test.run("init", "--allow-unsync", "30").exitCode == 0)
            #expect(try await test.partners().count == 90)
            #expect(try await test.state.count("harm", ["_id.job": "partner tasks"]) == 30)
        }
    }

    /// Writes a job that copies documents which do not fit the partner's schema; `limit` is the job's limit on unsynced
    /// documents.
    private func jobOfFailing(_ test: PartnerCase, limit: Int) throws {
        try test.folder.write(
            """
            { "title": "TaskV2", "bsonType": "object", "required": ["_id", "missing"], "properties": {
              "_id": { "bsonType": "string" }, "name": { "bsonType": "string" }, "missing": { "bsonType": "string" },
              "priority": { "bsonType": "string" }, "parent": { "bsonType": "string" },
              "tags": { "bsonType": "array", "items": { "bsonType": "mixed" } } } }
            """, to: "v2.json")
        try test.job(
            PartnerCase.documented + "\nschema: {target: v2.json}\nlimits: {unsynced: \(limit), reserve: 0}")
    }

    /// The documents that a killed run copied count towards the next run's limit on unsynced documents.
    ///
    /// The documents that another job has reserved count towards this limit as well.
    @Test func theLimitIsSharedAcrossRunsAndJobs() async throws {
        try await Mongod.shared.withPartner { test in
            try jobOfFailing(test, limit: 1201)
            try await test.load(1_200)
            // The first run is killed before its first checkpoint, so the second run copies the same documents again.
            // The second run is killed after it has reserved the documents of the next chunk, and before it copies
            // them.
            for fault in ["after-write:1:kill", "after-harm:1", "after-checkpoint:1", "after-checkpoint:1"] {
                let killed = try await test.run("init", fault: fault)
                #expect(killed.wasKilled, "\(killed.errors)")
                try await test.endLease()
            }
            #expect(try await test.run("init").exitCode == 0)
            #expect(try await test.partners().count == 1_200)
            #expect(try await test.state.count("harm", ["_id.job": "partner tasks", "seen": false]) == 1_200)
        }
        try await Mongod.shared.withPartner { test in
            try jobOfFailing(test, limit: 100)
            try await test.load(60)
            try await reserve(50, in: test)
            let refused = try await test.run("init")
            #expect(refused.exitCode == 1, "\(refused.output)\(refused.errors)")
            #expect(refused.errors.contains("there is room for 49"), "\(refused.errors)")
            #expect(try await test.partners().isEmpty)
        }
    }

    /// A run must not copy the documents that a killed run reserved if another job's reservations leave no room.
    ///
    /// The first run is killed after it has reserved its documents, and before it compares their number with the limit.
    /// Another job then reserves documents as well.
    @Test func documentsThatAKilledRunReservedAreComparedWithTheLimit() async throws {
        try await Mongod.shared.withPartner { test in
            try jobOfFailing(test, limit: 100)
            try await test.load(60)
            #expect(try await test.run("init", fault: "after-harm:1").wasKilled)
            try await test.endLease()
            try await reserve(50, in: test)
            let stopped = try await test.run("init")
            #expect(stopped.exitCode == 75, "\(stopped.output)\(stopped.errors)")
            #expect(try await test.partners().isEmpty)
            try await test.state.run(["delete": "harm", "deletes": [["q": ["_id.job": "other"], "limit": 0]]])
            #expect(try await test.run("init").exitCode == 0)
            #expect(try await test.partners().count == 60)
        }
    }

    /// Reserves documents for another job; the ledger does not show them yet.
    private func reserve(_ count: Int, in test: PartnerCase) async throws {
        try await test.state.fill(
            "harm",
            (0..<count).map { number in
                [
                    "_id": ["job": "other", "ns": "app.Other", "id": .integer(number)], "seen": false, "stale": false,
                    "at": .date(milliseconds: 0),
                ]
            })
    }

    @Test(arguments: [
        ("forwards: []", "a partner job has no key \"forwards\" (did you mean \"forward\"?)"),
        ("id: {from: objectId, to: int}", "\"id\" converts objectId, int or uuid to string, or back"),
        ("forward: [embed: {field: a, from: app.B}]", "a later change of those would not be carried over"),
        ("forward: [extract: {field: a, to: app.B, generate: uuid}]", "no step leads back from"),
        ("forward: [expression: {field: a, value: 1, once: b}]", "\"once\" marks a step as done: leave it out"),
        ("forward: [copy: {from: a, to: b, whenPresent: refresh}]", "\"refresh\" needs a journal"),
        ("forward: [default: {field: a, value: $now}]", "the time differs in every run"),
        ("only: {source: [a.b]}", "a field of the document itself"),
        ("drops: never", "\"drops\" must be stop or follow"),
    ])
    func aWrongJobIsNamedWithItsPlace(_ line: String, _ message: String) async throws {
        try await Mongod.shared.withPartner { test in
            try test.job(line)
            let run = try await test.run("init")
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("tasks.yml:4:"), "\(run.errors)")
            #expect(run.errors.contains(message), "\(run.errors)")
        }
    }
}

/// Tests `partner verify`, which compares the original collection with the partner collection.
@Suite struct PartnerVerifyTests {
    @Test(.server(from: 5, for: "reads of one moment")) func everyDifferenceIsListedWithItsDirection() async throws {
        try await Mongod.shared.withPartner { test in
            try test.job()
            try await test.load(400)
            #expect(try await test.run("init").exitCode == 0)
            try await test.database.delete("TaskV2", ["_id": .string("\(PartnerCase.id(1))")])
            try await test.database.delete("Task", ["_id": .objectID(PartnerCase.id(2))])
            try await test.database.update(
                "TaskV2", ["_id": .string("\(PartnerCase.id(4))")], ["$set": ["name": "new"]])
            // Only the partner collection has the field `note`, and only the original has `legacy`. `partner verify`
            // must report no difference for these fields.
            try await test.database.update("TaskV2", ["_id": .string("\(PartnerCase.id(5))")], ["$set": ["note": "n"]])
            try await test.database.update("Task", ["_id": .objectID(PartnerCase.id(6))], ["$set": ["legacy": "l"]])
            try await test.database.update("Task", ["_id": .objectID(PartnerCase.id(7))], ["$set": ["priority": 2.5]])
            let found = try await test.differences("--settle", "0s")
            #expect(found["difference_count"] == 4)
            let kinds = Dictionary(
                uniqueKeysWithValues: found["differences"]?.document?.values.compactMap(\.document).map {
                    ($0["_id"] ?? .null, $0["kind"]?.text ?? "")
                } ?? [])
            #expect(
                kinds == [
                    .objectID(PartnerCase.id(1)): "missing-in-target",
                    .objectID(PartnerCase.id(2)): "missing-in-source",
                    .objectID(PartnerCase.id(4)): "differing", .objectID(PartnerCase.id(7)): "differing",
                ], "\(kinds)")
            #expect(found["cluster_time"]?.text != nil)
            let text = try await test.run("verify", "--settle", "0s")
            #expect(text.exitCode == 1)
            #expect(text.output.contains("differs in name"), "\(text.output)")
        }
    }
}
