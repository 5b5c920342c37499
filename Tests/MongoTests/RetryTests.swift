import BSON
import Mongo
import TestSupport
import Testing

/// Tests which operations the driver retries after a broken connection, and which ones it leaves to the caller.
@Suite struct RetryTests {
    private enum Operation: String, CaseIterable {
        case find, aggregate, count, insert, findAndModify, update, delete

        var isRetried: Bool { ![.insert, .update, .delete].contains(self) }
    }

    @Test(arguments: Operation.allCases) private func aBrokenConnection(operation: Operation) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("a", [["_id": 1]])
            let namespace = database.namespace("a")
            var point = FailPoint(operation.rawValue, appName: database.appName, mode: .times(1))
            point.closesConnection = true
            let error: MongoError? = try await mongod.failing(point) { () async throws -> MongoError? in
                do throws(MongoError) {
                    try await database.pool.withClient { client throws(MongoError) in
                        try Self.run(operation, on: client.collection(namespace))
                    }
                    return nil
                } catch {
                    return error
                }
            }
            #expect((error == nil) == operation.isRetried, "\(error.map { "\($0)" } ?? "no error")")
            #expect(error?.isTransient ?? true)
        }
    }

    private static func run(_ operation: Operation, on collection: MongoCollection) throws(MongoError) {
        switch operation {
        case .find: _ = try collection.find().documents()
        case .aggregate: _ = try collection.aggregate([]).documents()
        case .count: _ = try collection.estimatedCount()
        case .insert: try collection.insert([["_id": 2]])
        case .findAndModify: try collection.findAndModify(["_id": 1], ["$inc": ["n": 1]])
        case .update: try collection.update([UpdateStatement(["_id": 1], ["$inc": ["n": 1]])])
        case .delete: try collection.delete([DeleteStatement(["_id": 1])])
        }
    }
}
