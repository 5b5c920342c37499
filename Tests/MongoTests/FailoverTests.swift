import BSON
import Mongo
import TestSupport
import Testing

/// Tests what happens when a primary steps down or is killed.
///
/// Each test starts its own servers, because it would disturb all other tests on a shared server.
@Suite struct FailoverTests {
    @Test func afterAStepDownTheDeploymentIsFoundAgain() async throws {
        let mongod = try await Mongod.start()
        try await mongod.withDatabase { database in
            try await database.fill("a", count: 100)
            let before = try await database.pool.run { try $0.hello() }
            try await mongod.stepDown()
            let namespace = database.namespace("a")
            let reply = try await database.pool.run { client in
                try client.collection(namespace).update([UpdateStatement([:], ["$set": ["x": 1]], isMulti: true)])
            }
            #expect(reply.modified == 100)
            let term = before.reply["lastWrite"]?.document?["opTime"]?.document?["t"]?.integer
            #expect(try #require(reply.term) > (try #require(term)))
        }
    }

    @Test func aSetWithoutAPrimaryIsNamedSo() async throws {
        let mongod = try await Mongod.start()
        try await mongod.admin(["replSetStepDown": 60, "secondaryCatchUpPeriodSecs": 0, "force": true])
        var options = ConnectionOptions(uri: mongod.uri)
        options.add("serverSelectionTimeoutMS=1600")
        let pool = try ClientPool.open(options)
        let error = try await #require(throws: MongoError.self) { try await pool.run { try $0.hello() } }
        #expect("\(error)".contains("the replica set has no primary"), "\(error)")
    }

    @Test func aKilledServerIsATransientErrorThatSaysWhy() async throws {
        let mongod = try await Mongod.start(.standalone)
        var options = ConnectionOptions(uri: mongod.uri)
        options.add("serverSelectionTimeoutMS=1600")
        let pool = try ClientPool.open(options)
        let namespace = Namespace(database: "app", collection: "a")
        try await pool.run { client in
            _ = try client.collection(namespace).insert((0..<100).map { ["_id": .integer($0)] })
        }
        let error = try await #require(throws: MongoError.self) {
            try await pool.run { client in
                var cursor = client.collection(namespace).find([:], options: ["batchSize": 2])
                _ = try cursor.next()
                try mongod.kill()
                _ = try cursor.documents()
            }
        }
        #expect(error.isTransient)
        let later = try await #require(throws: MongoError.self) { try await pool.run { try $0.hello() } }
        #expect(later.isServerSelection)
        #expect("\(later)".contains("connection refused"))
    }
}
