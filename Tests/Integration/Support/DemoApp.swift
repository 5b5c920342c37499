import BSON
import Checking
import DemoData
import Mongo
import ServerSchema
import SystemPackage
import TestSupport
import Testing

/// The demo app in a database of one test.
struct DemoApp {
    /// The number of documents in all collections together; a torture run uses as many as the demo itself.
    static let documents = TestScale.pick(10_000, full: 20_000, torture: DemoData.documentCount)

    let database: TestDatabase

    /// The demo's collections, whose documents the generator computes.
    let collections = DemoData.collections(documents: documents)

    /// Returns the namespace of a demo collection in the test's database.
    func namespace(_ collection: DemoCollection) -> Namespace { database.namespace(collection.namespace.collection) }

    /// Returns a version of the demo's schemas, for the collections of the test's database.
    func schemas(_ version: DemoVersion) throws -> [CollectionSchema] {
        try ServerSchema.read(at: Self.folder.appending(version.rawValue).string).collections.map { schema in
            CollectionSchema(namespace: database.namespace(schema.namespace.collection), root: schema.root)
        }
    }

    /// The folder of the demo's schemas and jobs.
    static var folder: FilePath { Repository.path("scripts/demo-app") }

    /// Inserts the documents of every collection of the demo.
    func load() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for collection in collections {
                let namespace = namespace(collection)
                group.addTask { [database] in
                    try await database.pool.withClient { client throws(MongoError) in
                        let target = client.collection(namespace)
                        for start in stride(from: 0, to: collection.count, by: 5_000) {
                            let batch = start..<min(start + 5_000, collection.count)
                            try target.insertMany(batch.lazy.map(collection.document), isOrdered: false)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Inserts the demo's documents into a database, and runs `body`.
    static func withLoaded(_ body: (DemoApp) async throws -> Void) async throws {
        try await Mongod.shared.withDatabase { database in
            let app = DemoApp(database: database)
            try await app.load()
            try await body(app)
        }
    }
}

extension DemoApp {
    /// Returns the `_id`s of the documents that match a filter on the server.
    func ids(_ filter: BSONDocument, in collection: DemoCollection) async throws -> Set<BSONValue> {
        try await database.ids(filter, in: namespace(collection).collection)
    }
}

extension TestDatabase {
    /// Returns the `_id`s of the documents that match a filter on the server.
    func ids(_ filter: BSONDocument, in collection: String) async throws -> Set<BSONValue> {
        let namespace = namespace(collection)
        return try await pool.withClient { client throws(MongoError) in
            let cursor = client.collection(namespace).find(filter, options: ["projection": ["_id": 1]])
            return Set(try cursor.documents().compactMap { $0["_id"] })
        }
    }
}
