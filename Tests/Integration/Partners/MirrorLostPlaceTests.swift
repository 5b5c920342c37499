import BSON
import Foundation
import TestSupport
import Testing

/// Tests that no write of a client is lost if the oplog or the state database loses data that a mirror needs.
@Suite(.fencedDeletes) struct MirrorLostPlaceTests {
    private func change(_ test: PartnerCase) async throws {
        try await test.database.update("Task", PartnerCase.source(1), ["$set": ["title": "original"]])
        try await test.database.update("TaskV2", PartnerCase.target(2), ["$set": ["name": "partner"]])
    }

    private func expectBothChanges(_ test: PartnerCase) async throws {
        #expect(try await test.database.documents("TaskV2", PartnerCase.target(1)).first?["name"] == "original")
        #expect(try await test.database.documents("Task", PartnerCase.source(2)).first?["title"] == "partner")
        #expect(try await test.differences()["difference_count"] == 0)
    }

    /// The oplog no longer has the changes after the position at which the mirror stopped.
    ///
    /// The mirror ends with an error. With `--rescan`, it compares the two collections again instead.
    ///
    /// The test fills a real but small oplog while no mirror runs, so that the server removes these changes.
    @Test func aPlaceThatTheOplogLostIsReportedAndBothSidesAreComparedAgain() async throws {
        let mongod = try await Mongod.start(.replicaSet, ["--oplogSize", "1"])
        try await mongod.withPartner { test in
            try test.job()
            try await test.load(5)
            try #require(try await test.run("init").exitCode == 0)
            try #require(try await test.run("mirror", "--once").exitCode == 0)
            try await test.database.update("Task", PartnerCase.source(1), ["$set": ["title": "original"]])
            try await test.database.fill("TaskV2", [["_id": .string("\(PartnerCase.id(60))"), "name": "new"]])
            let text = BSONValue.string(String(repeating: "x", count: 100_000))
            var round = 0
            let oldest: BSONDocument = [
                "find": "oplog.rs", "filter": ["o2._id": .objectID(PartnerCase.id(1))], "limit": 1,
            ]
            // The server removes the oldest section of the oplog as a whole, and only after its storage has written a
            // checkpoint. The test therefore fills the oplog, and forces a checkpoint after each insert.
            try await waitUntil("the oplog begins after the changes") {
                round += 1
                try await test.database.fill("other", count: 20) { ["_id": .integer(round * 20 + $0), "text": text] }
                try await mongod.admin(["fsync": 1])
                // A read that fails because the server removes entries at the same time is repeated.
                guard let found = try? await mongod.admin(oldest, on: "local") else { return false }
                return found["cursor"]?.document?["firstBatch"]?.document?.isEmpty != false
            }
            let run = try await test.run("mirror", "--once")
            #expect(run.exitCode == 65, "\(run.status): \(run.errors)")
            #expect(run.errors.contains("the oplog no longer holds the changes"), "\(run.errors)")
            #expect(run.errors.contains("--rescan"), "\(run.errors)")
            #expect(try await test.run("mirror", "--once", "--rescan").exitCode == 0)
            #expect(try await test.database.documents("TaskV2", PartnerCase.target(1)).first?["name"] == "original")
            #expect(try await test.database.count("Task", ["title": "new"]) == 1)
            #expect(try await test.differences()["difference_count"] == 0)
        }
    }

    /// The mirror loses no change, although it is killed after half of the changes and a collection of the state
    /// database is then dropped.
    @Test(arguments: ["carried", "unmirrored", "jobs"])
    func aStateDatabaseThatLostACollectionCostsNoChange(_ collection: String) async throws {
        try await PartnerCase.withCopy { test in
            try await change(test)
            #expect(try await test.run("mirror", fault: "before-commit:2:kill").wasKilled)
            try await test.endLease()
            // Errors are ignored, because the collection exists only if a mirror had something to store in it.
            _ = try? await test.state.run(["drop": .string(collection)])
            let run = try await test.run("mirror", "--once", "-o", "json")
            #expect(run.exitCode == 0, "\(run.errors)")
            try await expectBothChanges(test)
        }
    }

    /// Without the state database, the position of the mirror is unknown.
    ///
    /// The mirror ends, and `partner init` refuses to overwrite the partner's documents.
    @Test func aStateDatabaseThatIsLostStopsTheMirrorAndOverwritesNothing() async throws {
        try await PartnerCase.withCopy { test in
            try await change(test)
            try await test.state.run(["dropDatabase": 1])
            let before = (try await test.database.documents("Task"), try await test.partners())
            let mirror = try await test.run("mirror", "--once")
            #expect(mirror.exitCode == 64, "\(mirror.status): \(mirror.errors)")
            #expect(mirror.errors.contains("run partner init first"), "\(mirror.errors)")
            let again = try await test.run("init")
            #expect(again.exitCode == 65, "\(again.status): \(again.errors)")
            let after = (try await test.database.documents("Task"), try await test.partners())
            #expect(after.0 == before.0 && after.1 == before.1)
        }
    }

    /// A running mirror ends, and overwrites nothing, if the state document with the mirror's position is deleted.
    @Test func aRecordThatGoesUnderARunningMirrorEndsItAndOverwritesNothing() async throws {
        try await PartnerCase.withCopy { test in
            let run = try await test.run("mirror", "SHIPSHAPE_LEASE_TTL=5s") { program in
                try await test.database.update("Task", PartnerCase.source(1), ["$set": ["title": "one"]])
                try await waitUntil("it is carried over") {
                    try await test.database.documents("TaskV2", PartnerCase.target(1)).first?["name"] == "one"
                }
                try await test.state.run(["delete": "streams", "deletes": [["q": [:], "limit": 0]]])
                try await test.database.update("TaskV2", PartnerCase.target(2), ["$set": ["name": "partner"]])
                try await waitUntil("the mirror ends") { program.hasEnded }
            }
            #expect(![0, 70].contains(run.exitCode), "\(run.status): \(run.errors)")
            #expect(try await test.database.documents("TaskV2", PartnerCase.target(2)).first?["name"] == "partner")
            #expect(try await test.database.documents("Task", PartnerCase.source(2)).first?["title"] == "task 2")
        }
    }
}
