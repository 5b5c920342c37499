import BSON
import Mongo
import TestSupport
import Testing

/// Tests that changes arrive in order, and that a stream can resume where another stream ended.
@Suite struct ChangeStreamTests {
    private static let options: BSONDocument = ["maxAwaitTimeMS": 50]

    /// Returns the `_id`s of the next `count` events, and the stream's resume token after them.
    private static func ids(
        _ collection: MongoCollection, _ count: Int, options: BSONDocument
    ) throws -> ([BSONValue], ResumeToken?) {
        var stream = collection.watch(options: BSONDocument(try Self.options.elements() + options.elements()))
        var ids: [BSONValue] = []
        while ids.count < count {
            guard let event = try stream.next() else { continue }
            if let id = BSONDocument(copying: event)["documentKey"]?.document?["_id"] { ids.append(id) }
        }
        return (ids, stream.resumeToken)
    }

    @Test func changesArriveFromAMomentOn() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("a", count: 3)
            let namespace = database.namespace("a")
            let time = try await database.pool.run { client in
                let session = try client.startSession()
                try client.runCommand(["ping": 1], on: "admin", options: try session.options())
                return session.operationTime
            }
            try await database.fill("a", (10..<15).map { ["_id": .integer($0)] })
            let isComplete = try await database.pool.run { client in
                let collection = client.collection(namespace)
                let start: BSONDocument = ["startAtOperationTime": .timestamp(time + 1)]
                let (ids, token) = try Self.ids(collection, 3, options: start)
                #expect(ids == [10, 11, 12])
                #expect((token?.time ?? ClusterTime(rawValue: 0)) > ClusterTime(rawValue: time))
                let resume: BSONDocument = ["resumeAfter": .object(try #require(token).document)]
                let (others, _) = try Self.ids(collection, 2, options: resume)
                #expect(others == [13, 14])
                return true
            }
            #expect(isComplete)
        }
    }

    @Test func aQuietStreamSaysHowFarItIs() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 1)
            let namespace = database.namespace("a")
            let (start, end) = try await database.pool.run { client in
                var stream = client.collection(namespace).watch(options: Self.options)
                let isQuiet = try stream.next() == nil
                #expect(isQuiet)
                let start = stream.resumeToken?.time
                try client.collection(Namespace(database: namespace.database, collection: "b")).insert([["_id": 1]])
                var end = start
                while end == start {
                    _ = try stream.next()
                    end = stream.resumeToken?.time
                }
                return (start, end)
            }
            #expect(try #require(start) < #require(end))
        }
    }

    @Test func aStandaloneHasNone() async throws {
        let mongod = try await Mongod.start(.standalone)
        try await mongod.withDatabase { database in
            try await database.fill("a", count: 1)
            let namespace = database.namespace("a")
            let error = try await #require(throws: MongoError.self) {
                try await database.pool.run { client in
                    var stream = client.collection(namespace).watch()
                    _ = try stream.next()
                }
            }
            #expect(error.code == .changeStreamsUnsupported)
        }
    }

    @Test func nothingStaysOpen() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.fill("a", count: 1)
            let namespace = database.namespace("a")
            try await database.pool.run { client in
                var stream = client.collection(namespace).watch(options: Self.options)
                _ = try stream.next()
            }
            #expect(database.pool.liveHandles == 0)
        }
    }
}
