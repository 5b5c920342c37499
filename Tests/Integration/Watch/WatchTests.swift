import BSON
import Foundation
import Mongo
import SystemPackage
import TestSupport
import Testing

/// Tests that a watch refuses servers that lack a feature which it needs.
@Suite struct WatchServerTests {
    @Test func aServerThatIsTooOldIsRefused() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", [["_id": 1]])
            let run = try await test.once()
            let isKnown = try await Mongod.build.isAtLeast(5)
            #expect(run.exitCode == (isKnown ? 1 : 65), "\(run.errors)")
            #expect(run.errors.contains("MongoDB 5.0 or later") != isKnown, "\(run.errors)")
        }
    }
}

/// Tests which documents a watch records, and how it begins and ends.
@Suite(.fencedDeletes) struct WatchTests {
    @Test func theFirstRunRecordsWhatDoesNotSyncWithItsReason() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", [["_id": 1, "name": "Ada"], ["_id": 2], ["_id": 3, "name": 7]])
            let run = try await test.once()
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(
                run.output.hasPrefix("2 unsynced documents in \(test.state.name).unsynced_documents"), "\(run.output)")
            let entries = try await test.entries()
            #expect(entries.map { $0["documentId"] } == [2, 3])
            #expect(entries[0]["ns"] == ["db": .string(test.database.name), "coll": "person"])
            #expect(entries[0]["rule"] == "required-missing")
            #expect(entries[0]["path"] == "name")
            #expect(entries[1]["rule"] == "type-mismatch")
            #expect(entries[1]["reason"] == "type-mismatch at name")
            #expect(entries.allSatisfy { $0["time"]?.type == .date })
        }
    }

    @Test func entriesLeaveWhenTheirDocumentFitsOrIsGone() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", [["_id": 1], ["_id": 2], ["_id": 3], ["_id": 4, "name": "Ada"]])
            #expect(try await test.once().exitCode == 1)
            #expect(try await test.recorded() == [IDKey(1), IDKey(2), IDKey(3)])
            try await test.database.update("person", ["_id": 1], ["$set": ["name": "Bo"]])
            try await test.database.delete("person", ["_id": 2])
            try await test.database.update("person", ["_id": 4], ["$unset": ["name": 1]])
            let run = try await test.once()
            #expect(run.exitCode == 1)
            #expect(run.errors.contains("from where the last run stopped"), "\(run.errors)")
            #expect(!run.errors.contains("reading all of"))
            #expect(try await test.recorded() == [IDKey(3), IDKey(4)])
        }
    }

    @Test func anEmptyLedgerEndsWith0() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", [["_id": 1, "name": "Ada"]])
            let run = try await test.once()
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.hasPrefix("0 unsynced documents"))
        }
    }

    @Test func aDocumentThatChangesDuringTheReadingCountsOnce() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", count: 5_000)
            var point = FailPoint("getMore", appName: test.appName)
            point.namespace = "\(test.database.name).person"
            point.blockTime = .seconds(2)
            let run = try await test.mongod.failing(point) {
                try await Program.run(try test.arguments(["--once", "SHIPSHAPE_THREADS=1"])) { _ in
                    // The server blocks the second batch while the watch records the documents of the first one.
                    try await waitUntil("the first documents are recorded") { try await !test.entries().isEmpty }
                    try await test.database.update("person", ["_id": 0], ["$set": ["age": 5]])
                }
            }
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.errors.contains("5,000 documents read, 5,000 do not sync"), "\(run.errors)")
            #expect(try await test.recorded().count == 5_000)
        }
    }

    @Test func aRunningWatchFollowsAndEndsWith0AtASignal() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", [["_id": 1, "name": "Ada"]])
            let run = try await test.watching { _ in
                try await test.database.fill("person", [["_id": 2]])
                try await test.waitUntilRecorded([IDKey(2)])
                try await test.database.update("person", ["_id": 2], ["$set": ["name": "Bo"]])
                try await test.waitUntilRecorded([])
                try await test.database.fill("person", [["_id": 3]])
                try await test.waitUntilRecorded([IDKey(3)])
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.hasPrefix("1 unsynced document in"), "\(run.output)")
        }
    }

    @Test func aDroppedCollectionIsReadAgain() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", [["_id": 1], ["_id": 2]])
            let run = try await test.watching { _ in
                try await test.waitUntilRecorded([IDKey(1), IDKey(2)])
                try await test.database.run(["drop": "person"])
                try await test.waitUntilRecorded([])
                try await test.database.fill("person", [["_id": 3]])
                try await test.waitUntilRecorded([IDKey(3)])
            }
            // The watch may notice the drop twice: by the error of a command, and later in the change stream. It then
            // reads the collection a second time, and may still be reading when the test's SIGTERM arrives (exit code
            // 75).
            #expect([0, 75].contains(run.exitCode), "\(run.errors)")
            #expect(run.errors.contains("it was dropped or renamed"), "\(run.errors)")
        }
    }

    @Test func anotherSchemaRebuildsTheLedger() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", [["_id": 1, "name": "Ada"], ["_id": 2]])
            #expect(try await test.once().exitCode == 1)
            let other = #"{ "bsonType": "object", "properties": { "_id": { "bsonType": "string" } } }"#
            let run = try await test.once(schema: other)
            #expect(run.errors.contains("the schema or an option has changed"), "\(run.errors)")
            #expect(try await test.recorded() == [IDKey(1), IDKey(2)])
            let none = #"{ "bsonType": "object", "properties": { "_id": { "bsonType": "int" } } }"#
            #expect(try await test.once(schema: none).exitCode == 0)
            #expect(try await test.recorded() == [])
        }
    }

    @Test func aPlaceThatTheOplogLostIsReportedAndTheCollectionIsReadAgain() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", [["_id": 1]])
            #expect(try await test.once().exitCode == 1)
            try await test.database.fill("person", [["_id": 2]])
            var point = FailPoint.error(286, "aggregate", appName: test.appName, mode: .times(1))
            point.namespace = "\(test.database.name).person"
            let run = try await test.mongod.failing(point) { try await test.once() }
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.errors.contains("the oplog no longer holds the changes"), "\(run.errors)")
            #expect(try await test.recorded() == [IDKey(1), IDKey(2)])
        }
    }

    @Test(arguments: [false, true]) func aLedgerThatLostEntriesIsRebuilt(isDropped: Bool) async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", count: 60) { number in
                number < 10 ? ["_id": .integer(number), "name": "Ada"] : ["_id": .integer(number)]
            }
            #expect(try await test.once().exitCode == 1)
            let all = try await test.recorded()
            #expect(all.count == 50)
            if isDropped {
                try await test.state.run(["drop": "unsynced_documents"])
            } else {
                try await test.state.delete("unsynced_documents", ["documentId": ["$lt": 15]])
            }
            let run = try await test.once()
            #expect(run.exitCode == 1, "\(run.output)\(run.errors)")
            #expect(run.output.hasPrefix("50 unsynced documents"), "\(run.output)")
            #expect(run.errors.contains("of its entries, but the watch left 50"), "\(run.errors)")
            #expect(try await test.recorded() == all)
            // This run of the watch has recorded that the ledger is complete again, so the next runs do not read the
            // whole collection again.
            try await test.database.update("person", ["_id": 20], ["$set": ["name": "Bo"]])
            try await test.database.fill("person", [["_id": 70], ["_id": 71, "name": "Cy"]])
            for _ in 0..<2 {
                let last = try await test.once()
                #expect(!last.errors.contains("reading all of"), "\(last.errors)")
                #expect(try await test.recorded() == all.subtracting([IDKey(20)]).union([IDKey(70)]))
            }
        }
    }

    @Test(arguments: [
        ("aggregate", "unsynced_documents"), ("delete", "unsynced_documents"), ("aggregate", "streams"),
        ("find", "person"),
    ]) func aCommandWhoseCollectionIsDroppedMeanwhileIsRetried(command: String, collection: String) async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", [["_id": 1], ["_id": 2]])
            #expect(try await test.once().exitCode == 1)
            try await test.database.update("person", ["_id": 1], ["$set": ["name": "Ada"]])
            try await test.database.fill("person", [["_id": 3]])
            var point = FailPoint.error(175, command, appName: test.appName, mode: .times(1))
            let database = collection == "person" ? test.database : test.state
            point.namespace = "\(database.name).\(collection)"
            let run = try await test.mongod.failing(point) { try await test.once() }
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.errors.contains("QueryPlanKilled"), "\(run.errors)")
            #expect(try await test.recorded() == [IDKey(2), IDKey(3)])
        }
    }

    @Test func aLedgerThatIsDroppedUnderARunningWatchIsRebuilt() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", [["_id": 1], ["_id": 2]])
            let run = try await test.watching { _ in
                try await test.waitUntilRecorded([IDKey(1), IDKey(2)])
                try await test.state.run(["drop": "unsynced_documents"])
                try await test.database.fill("person", [["_id": 3]])
                try await test.waitUntilRecorded([IDKey(1), IDKey(2), IDKey(3)])
                // The watch removes entries only after it has read the whole collection. The entry for the new document
                // 4 shows that the watch has read it.
                try await test.database.fill("person", [["_id": 4]])
                try await test.waitUntilRecorded([IDKey(1), IDKey(2), IDKey(3), IDKey(4)])
                try await test.database.update("person", ["_id": 4], ["$set": ["name": "Cy"]])
                try await test.waitUntilRecorded([IDKey(1), IDKey(2), IDKey(3)])
            }
            #expect(run.exitCode == 0, "\(run.errors)")
        }
    }

    @Test func checkAndUnsyncedReadTheLedger() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", [["_id": 1, "name": "Ada"], ["_id": 2], ["_id": 3]])
            #expect(try await test.once().exitCode == 1)
            let ledger = "\(test.state.name).unsynced_documents"
            let unsynced = try await Program.run([
                "ledger", "show", "SHIPSHAPE_LEDGER=\(ledger)", "--uri", test.uri, "-o", "json",
            ])
            #expect(unsynced.exitCode == 1, "\(unsynced.errors)")
            let report = try #require(try BSONValue(extendedJSON: unsynced.output).document)
            #expect(report["apps"]?.document?.values.first?.document?["documents"] == 2, "\(unsynced.output)")
            let arguments = try test.folder.check(test.database, on: test.mongod)
            let check = try await Program.run(arguments + ["SHIPSHAPE_LEDGER=\(ledger)", "SHIPSHAPE_LIMIT=2"])
            #expect(check.output.contains("the limit of 2 is reached"), "\(check.output)")
        }
    }

    @Test func aBackfillStaysBelowTheLimitByTheLedgerThatAWatchKeeps() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", count: 110) { number in
                number < 10
                    ? ["_id": .integer(number), "age": "old"]
                    : ["_id": .integer(number), "name": "Ada", "age": .integer(number)]
            }
            #expect(try await test.once().exitCode == 1)
            try test.folder.write(
                CommandLineFolder.person.replacing(
                    #""age": { "bsonType": "int" }"#, with: #""age": { "bsonType": "string" }"#),
                to: "next.json")
            let job = try test.folder.write(
                """
                job: ages
                collection: \(test.database.name).person
                schema: {active: person.json, next: next.json}
                steps: [convert: {field: age, to: string}]
                limits: {chunk: {documents: 10}, unsynced: 50, reserve: 0}
                """, to: "job.yml")
            func backfill(_ flags: String...) async throws -> ProgramRun {
                try await Program.run(
                    ["backfill", job, "--yes", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"]
                        + ["SHIPSHAPE_LEDGER=\(test.state.name).unsynced_documents"] + flags)
            }
            func converted() async throws -> Int {
                try await test.database.count("person", ["_id": ["$gte": 10], "age": ["$type": "string"]])
            }
            let refused = try await backfill()
            #expect(refused.exitCode == 1 && refused.errors.contains("10 in the ledger"), "\(refused.errors)")
            let stopped = try await backfill("--allow-unsync", "100")
            #expect(stopped.exitCode == 75, "\(stopped.errors)")
            #expect(try await converted() == 39)
            // The watch adds the 39 documents that the job made unsyncable to the ledger, so none of them is pending.
            // The ledger and the pending documents together are still 49, so the limit allows no more documents.
            #expect(try await test.once().exitCode == 1)
            #expect(try await test.entries().count == 49)
            let again = try await backfill("--allow-unsync", "100")
            #expect(again.output.contains("49 in the ledger and 0 pending"), "\(again.output)\(again.errors)")
            #expect(try await converted() == 39)
        }
    }
}

/// Tests the refusals, warnings and metrics of a watch.
@Suite(.fencedDeletes) struct WatchOperationTests {
    @Test(arguments: [
        (["--into", "__realm_sync.unsynced_documents"], 78, "where nothing else must write"),
        (["--into", "__realm_sync_5f.mine"], 78, "where nothing else must write"),
        (["SHIPSHAPE_STATE_DATABASE=__realm_sync"], 78, "where nothing else must write"),
        (["--into", "nodots"], 64, "\"nodots\" is not DATABASE.COLLECTION"),
        (["--warn-at", "0"], 64, "--warn-at must be from 1 to 100"),
    ])
    func placesAndFlagsThatCannotBe(_ flags: [String], _ code: Int32, _ message: String) async throws {
        try await Mongod.shared.withWatch { test in
            let run = try await Program.run(try test.arguments(["--once"] + flags))
            #expect(run.exitCode == code)
            #expect(run.errors.contains(message), "\(run.errors)")
            #expect(try await test.state.documents("streams").isEmpty)
        }
    }

    @Test func aSecondWatchOfALedgerIsRefused() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", [["_id": 1]])
            let first = try await test.watching { _ in
                try await test.waitUntilRecorded([IDKey(1)])
                let second = try await test.once()
                #expect(second.exitCode == 76)
                #expect(second.errors.contains("is held by process"), "\(second.errors)")
            }
            #expect(first.exitCode == 0, "\(first.errors)")
        }
    }

    @Test func theHookGetsTheCount() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", count: 8)
            let reported = test.folder.path.appending("told").string
            let hook = "echo $SHIPSHAPE_UNSYNCED of $SHIPSHAPE_LIMIT >> \(reported)"
            #expect(try await test.once("SHIPSHAPE_LIMIT=11", "--on", "alarm=\(hook)").exitCode == 1)
            #expect(test.folder.text(of: "told") == nil)
            let run = try await test.once("SHIPSHAPE_LIMIT=10", "--on", "alarm=\(hook)")
            #expect(test.folder.text(of: "told") == "8 of 10\n")
            #expect(run.errors.contains("warning: 8 unsynced documents"), "\(run.errors)")
        }
    }

    @Test func theCountsAreMetrics() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", [["_id": 1], ["_id": 2], ["_id": 3, "name": "Ada"]])
            let file = test.folder.path.appending("watch.prom").string
            #expect(try await test.once("--metrics", file).exitCode == 1)
            let text = try #require(test.folder.text(of: "watch.prom"))
            let ledger = "ledger=\"\(test.state.name).unsynced_documents\""
            #expect(
                text.contains(
                    "shipshape_unsynced_documents{\(ledger),collection=\"\(test.database.name).person\"} 2\n"),
                "\(text)")
            #expect(text.contains("shipshape_unsynced_limit{\(ledger)} 100000\n"))
        }
    }

    @Test func aSignalBeforeTheLedgerIsWholeEndsWith75() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", count: 50_000)
            let run = try await Program.run(try test.arguments(), fault: "after-state-write:2:stop") { program in
                try await waitUntil("the program is stopped") { try program.isStopped }
                program.send(SIGTERM)
                program.send(SIGCONT)
            }
            #expect(run.exitCode == 75, "\(run.errors)")
            #expect(try await test.once().exitCode == 1)
            #expect(try await test.recorded().count == 50_000)
        }
    }
}
