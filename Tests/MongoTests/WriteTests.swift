import BSON
import Mongo
import TestSupport
import Testing

@Suite struct WriteTests {
    @Test(.server(from: 5, for: "updates take let")) func aPipelineUpdateDistinguishesMatchedFromModified() async throws
    {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", [["_id": 1, "n": 1], ["_id": 2, "n": 2, "m": 4]])
            let namespace = database.namespace("a")
            let reply = try await database.pool.run { client in
                let pipeline: BSONValue = [["$set": ["m": ["$multiply": ["$n", "$$factor"]]]]]
                let statement = UpdateStatement([:], pipeline, isMulti: true, hint: ["_id": 1])
                return try client.collection(namespace).update(
                    [statement],
                    options: ["let": ["factor": 2], "maxTimeMS": 5_000, "writeConcern": ["w": "majority"]])
            }
            #expect(reply.matched == 2)
            #expect(reply.modified == 1)
            #expect(reply.term != nil)
            #expect(reply.operationTime != nil)
            #expect(try await database.documents("a").map { $0["m"] } == [2, 4])
        }
    }

    @Test(.server(from: 6, for: "collectionUUID")) func aCollectionOfAnotherUUIDIsRefused() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 1)
            try await database.fill("b", count: 1)
            let a = database.namespace("a")
            let b = database.namespace("b")
            let error = try await #require(throws: MongoError.self) {
                try await database.pool.withClient { client throws(MongoError) in
                    guard let uuid = try client.collectionInfo(b)?.uuid else { return }
                    _ = try client.collection(a).update(
                        [UpdateStatement([:], ["$set": ["x": 1]], isMulti: true)], options: ["collectionUUID": uuid])
                }
            }
            #expect(error.code == .collectionUUIDMismatch)
            #expect(try await database.count("a", ["x": 1]) == 0)
        }
    }

    @Test func upsertsAreCountedApart() async throws {
        try await Mongod.shared.withDatabase { database in
            let namespace = database.namespace("a")
            let reply = try await database.pool.run { client in
                try client.collection(namespace).update([
                    UpdateStatement(["_id": 1], ["$set": ["x": 1]], isUpsert: true)
                ])
            }
            #expect(reply.matched == 0)
            #expect(reply.upserted == 1)
        }
    }

    @Test func aRefusedStatementIsThrown() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", [["_id": 1, "x": "private words"]])
            let namespace = database.namespace("a")
            let error = try await #require(throws: MongoError.self) {
                try await database.pool.withClient { client throws(MongoError) in
                    _ = try client.collection(namespace).update([UpdateStatement([:], ["$inc": ["x": 1]])])
                }
            }
            #expect(error.domain == .server)
            #expect(error.code.rawValue == 14)  // TypeMismatch
            #expect(!"\(error)".contains("private words"))
        }
    }

    @Test func refusedStatementsAreCollectedOnDemand() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", [["_id": 1], ["_id": 2], ["_id": 3]])
            let namespace = database.namespace("a")
            let reply = try await database.pool.run { client in
                try client.collection(namespace).update(
                    [
                        UpdateStatement(["_id": 1], ["$set": ["x": 1]]),
                        UpdateStatement(["_id": 2], ["$set": ["_id": 9]]),
                        UpdateStatement(["_id": 3], ["$set": ["x": 1]]),
                    ], isOrdered: false, collectsWriteErrors: true)
            }
            #expect(reply.modified == 2)
            #expect(reply.writeErrors.map(\.index) == [1])
            #expect(reply.writeErrors.map(\.code.rawValue) == [66])  // ImmutableField
        }
    }

    @Test(arguments: [true, false]) func insertReportsDuplicates(isOrdered: Bool) async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", [["_id": 2]])
            let namespace = database.namespace("a")
            let reply = try await database.pool.run { client in
                try client.collection(namespace).insert(
                    [["_id": 1], ["_id": 2, "x": 1], ["_id": 3]], isOrdered: isOrdered, collectsWriteErrors: true)
            }
            #expect(reply.matched == (isOrdered ? 1 : 2))
            #expect(reply.writeErrors.map(\.index) == [1])
            #expect(reply.writeErrors.map(\.code) == [.duplicateKey])
        }
    }

    @Test func documentsThatTheServerAcceptsAreNotRefusedByTheDriver() async throws {
        try await Mongod.shared.withDatabase { database in
            // The server accepts empty names, names with dots, and a string that is not valid UTF-8.
            let document: BSONDocument = ["_id": 1, "": ["": 1, "a.b": 2, "$c": 3], "s": "?"]
            var bytes = document.bytes
            bytes[bytes.count - 3] = 0xFF
            let odd = try BSONDocument(bytes: bytes)
            try await database.fill("a", [odd])
            #expect(try await database.documents("a") == [odd])
        }
    }

    @Test func deletesAreCounted() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 10)
            let namespace = database.namespace("a")
            let reply = try await database.pool.run { client in
                try client.collection(namespace).delete([
                    DeleteStatement(["_id": ["$lt": 4]], isMulti: true), DeleteStatement(["_id": ["$gte": 8]]),
                ])
            }
            #expect(reply.matched == 5)
            #expect(try await database.count("a") == 5)
        }
    }

    @Test func findAndModifyGivesTheDocument() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", [["_id": 1, "n": 1]])
            let namespace = database.namespace("a")
            let documents = try await database.pool.run { client in
                let collection = client.collection(namespace)
                return [
                    try collection.findAndModify(["_id": 1], ["$inc": ["n": 1]]),
                    try collection.findAndModify(["_id": 1], ["$inc": ["n": 1]], options: ["new": true]),
                    try collection.findAndModify(["_id": 2], ["$inc": ["n": 1]]),
                ]
            }
            #expect(documents == [["_id": 1, "n": 1], ["_id": 1, "n": 3], nil])
        }
    }

    @Test func rawWriteCommandsAreNoSuccessWhenStatementsAreRefused() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", [["_id": 1]])
            let name = database.name
            let error = try await #require(throws: MongoError.self) {
                try await database.pool.withClient { client throws(MongoError) in
                    _ = try client.runWriteCommand(["insert": "a", "documents": [["_id": 1]]], on: name)
                }
            }
            #expect(error.code == .duplicateKey)
        }
    }
}
