package import BSON
package import Mongo
import Synchronization

/// A database that only one test uses.
package struct TestDatabase: Sendable {
    /// The name of the database, different for each test.
    package let name: String
    /// The test's own pool of connections, with the application name ``appName``.
    package let pool: ClientPool
    /// The application name of the pool's connections, for ``FailPoint/appName``.
    package let appName: String

    /// Returns the namespace of a collection in the database.
    package func namespace(_ collection: String) -> Namespace { Namespace(database: name, collection: collection) }

    /// Runs a command on the database.
    @discardableResult
    package func run(_ command: BSONDocument) async throws -> BSONDocument {
        try await pool.withClient { [name] client throws(MongoError) in try client.runCommand(command, on: name) }
    }

    /// Inserts documents into a collection.
    package func fill(_ collection: String, _ documents: [BSONDocument]) async throws {
        let namespace = namespace(collection)
        try await pool.withClient { client throws(MongoError) in
            _ = try client.collection(namespace).insertMany(documents)
        }
    }

    /// Inserts the documents that `make` returns for the numbers from 0 to `count` - 1.
    package func fill(_ collection: String, count: Int, _ make: (Int) -> BSONDocument = { ["_id": .integer($0)] })
        async throws
    {
        try await fill(collection, (0..<count).map(make))
    }

    /// Returns the number of documents that match the filter.
    package func count(_ collection: String, _ filter: BSONDocument = [:]) async throws -> Int {
        let namespace = namespace(collection)
        return try await pool.withClient { client throws(MongoError) in
            try client.collection(namespace).countDocuments(filter)
        }
    }

    /// Returns all documents, in the order in which the collection stores them.
    package func inOrderOfRecords(_ collection: String) async throws -> [BSONDocument] {
        let namespace = namespace(collection)
        return try await pool.withClient { client throws(MongoError) in
            try client.collection(namespace).find([:], options: ["hint": ["$natural": 1]]).documents()
        }
    }

    /// Returns the documents that match the filter, in the order of their `_id`s.
    /// - Parameter readConcern: the read concern; with `local`, the result may have writes that an election rolls back.
    package func documents(
        _ collection: String, _ filter: BSONDocument = [:], readConcern: String = "local"
    ) async throws -> [BSONDocument] {
        let namespace = namespace(collection)
        let options: BSONDocument = ["sort": ["_id": 1], "readConcern": ["level": .string(readConcern)]]
        return try await pool.withClient { client throws(MongoError) in
            try client.collection(namespace).find(filter, options: options).documents()
        }
    }
}

extension Mongod {
    /// Runs a test with its own database, and drops the database afterwards.
    package func withDatabase<R>(_ prefix: String = "test", _ body: (TestDatabase) async throws -> R) async throws -> R
    {
        let name = "\(prefix)_\(UInt32.random(in: 0 ... .max))_\(databaseCount.add(1, ordering: .relaxed).newValue)"
        let database = TestDatabase(name: name, pool: try pool(appName: name), appName: name)
        do {
            let result = try await body(database)
            try await drop(name)
            return result
        } catch {
            try? await drop(name)
            throw error
        }
    }

    private func drop(_ name: String) async throws {
        try await sharedPool().withClient { client throws(MongoError) in
            _ = try client.runCommand(["dropDatabase": 1], on: name)
        }
    }
}

private let databaseCount = Atomic<Int>(0)
