import BSON
import Concurrency
import Mongo
import TestSupport
import Testing

@Suite struct HandleTests {
    @Test func everyHandleIsFreed() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 100)
            let namespace = database.namespace("a")
            let inside = try await database.pool.run { client in
                let collection = client.collection(namespace)
                let session = try client.startSession()
                var cursor = try collection.find([:], options: session.options(adding: ["batchSize": 2]))
                _ = try cursor.next()
                var unread = collection.aggregate([])
                _ = try unread.next()
                return database.pool.liveHandles
            }
            #expect(inside == 4)
            #expect(database.pool.liveHandles == 0)
        }
    }

    @Test func errorsFreeTheirHandlesToo() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 1)
            let namespace = database.namespace("a")
            for _ in 0..<20 {
                await #expect(throws: MongoError.self) { try await database.fill("a", [["_id": 0]]) }
                await #expect(throws: MongoError.self) {
                    try await database.pool.withClient { client throws(MongoError) in
                        _ = try client.collection(namespace).find(["$nonsense": 1]).documents()
                    }
                }
            }
            #expect(database.pool.liveHandles == 0)
        }
    }

    @Test func aCursorOutlivesItsClientAndKeepsThePool() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("a", count: 10)
            let namespace = database.namespace("a")
            let count = try await onOwnedThread(name: "test") {
                func open() throws -> Cursor {
                    try mongod.pool().client().collection(namespace).find([:], options: ["batchSize": 2])
                }
                return try open().documents().count
            }
            #expect(count == 10)
        }
    }

    @Test func aPoolGivesAClientAgain() async throws {
        var options = try await Mongod.shared.options
        options.add("maxPoolSize=1")
        let pool = try ClientPool.open(options)
        // A smaller pool than one of 40 clients is enlarged to it.
        for _ in 0..<50 { try await pool.run { _ = try $0.hello() } }
        #expect(pool.liveHandles == 0)
    }
}
