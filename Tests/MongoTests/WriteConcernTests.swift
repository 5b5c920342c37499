import BSON
import Mongo
import TestSupport
import Testing

@Suite struct WriteConcernTests {
    @Test(arguments: ["update", "insert", "findAndModify"])
    func aWriteConcernErrorIsThrownAlthoughTheWriteWasDone(command: String) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("a", [["_id": 1]])
            let namespace = database.namespace("a")
            var point = FailPoint(command, appName: database.appName)
            point.writeConcernError = ["code": 64, "codeName": "WriteConcernFailed", "errmsg": "waiting timed out"]
            let error = try await mongod.failing(point) {
                await #expect(throws: MongoError.self) {
                    try await database.pool.withClient { client throws(MongoError) in
                        let collection = client.collection(namespace)
                        switch command {
                        case "update": _ = try collection.update([UpdateStatement(["_id": 1], ["$set": ["x": 1]])])
                        case "insert": _ = try collection.insert([["x": 1]])
                        default: _ = try collection.findAndModify(["_id": 1], ["$set": ["x": 1]])
                        }
                    }
                }
            }
            #expect(error?.isWriteConcern == true)
            #expect(error?.code == .writeConcernFailed)
            #expect(try await database.count("a", ["x": 1]) == 1)
        }
    }

    @Test func theLabelsOfAWriteConcernErrorAreKept() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("a", [["_id": 1]])
            let namespace = database.namespace("a")
            var point = FailPoint("update", appName: database.appName)
            point.writeConcernError = ["code": 91, "errmsg": "shutting down"]
            point.errorLabels = ["RetryableWriteError"]
            let error = try await mongod.failing(point) {
                await #expect(throws: MongoError.self) {
                    try await database.pool.withClient { client throws(MongoError) in
                        _ = try client.collection(namespace).update([UpdateStatement([:], ["$set": ["x": 1]])])
                    }
                }
            }
            #expect(error?.code == .shutdownInProgress)
            #expect(error?.labels == ["RetryableWriteError"])
            #expect(error?.isTransient == true)
        }
    }

    @Test func aRefusalBesideAWriteConcernErrorIsTheRefusal() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("a", [["_id": 1]])
            let namespace = database.namespace("a")
            var point = FailPoint("insert", appName: database.appName)
            point.writeConcernError = ["code": 64, "errmsg": "waiting timed out"]
            let error = try await mongod.failing(point) {
                await #expect(throws: MongoError.self) {
                    try await database.pool.withClient { client throws(MongoError) in
                        _ = try client.collection(namespace).insert([["_id": 1]])
                    }
                }
            }
            #expect(error?.code == .duplicateKey)
            #expect(error?.isWriteConcern == false)
        }
    }
}
