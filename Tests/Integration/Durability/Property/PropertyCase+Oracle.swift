import BSON
import Mongo
import TestSupport

@testable import JobState
@testable import Jobs
@testable import Steps

/// The documents that are expected after the job.
extension PropertyCase {
    /// Returns the documents that the job must make of the given ones.
    ///
    /// The test computes them itself if it can compute the effect of every step. Otherwise, the server runs the job's
    /// own pipelines as an aggregation.
    func expected(of documents: [PropertyKey: BSONDocument]) async throws -> [PropertyKey: BSONDocument] {
        guard job.isKnown else { return try await asked(of: documents) }
        var expected: [PropertyKey: BSONDocument] = [:]
        for (key, document) in documents { expected[key] = try job.outcome(of: document)?.document }
        return expected
    }

    /// Returns a text for an error message: how many documents still need the job, and one of them.
    func open() async throws -> String {
        let found = try await test.database.keyed()
        let made = try await expected(of: found)
        let open = found.filter { made[$0.key] != $0.value }
        return "\(open.count) documents need the job" + (open.first.map { ", such as \($0.value.json)" } ?? "")
    }

    private func asked(of documents: [PropertyKey: BSONDocument]) async throws -> [PropertyKey: BSONDocument] {
        let database = test.database
        do { try await database.create("oracle", collation: collation) } catch let error as MongoError
            where !error.isTransient
        {
            // The collection `oracle` exists from an earlier call, so its documents are removed.
            try await database.run(["delete": "oracle", "deletes": [["q": [:], "limit": 0]]])
        }
        let all = documents.values.map { BSONValue.object($0) }
        for start in stride(from: 0, to: all.count, by: 100) {
            try await database.run([
                "insert": "oracle", "documents": .array(of: Array(all[start..<min(start + 100, all.count)])),
            ])
        }
        let pipeline = try compiled().steps.filter { $0.client == nil }.map(\.stage)
        let namespace = database.namespace("oracle")
        let found = try await database.pool.run { try $0.collection(namespace).aggregate(pipeline).documents() }
        return Dictionary(uniqueKeysWithValues: found.map { (PropertyKey($0["_id"] ?? .null), $0) })
    }

    /// Returns the job of the job file, compiled without schemas.
    func compiled() throws -> CompiledJob {
        try CompiledJob(try JobFile.read(at: test.path()), active: nil, next: nil)
    }
}

extension CompiledJob {
    /// Whether a single update runs all steps of the job.
    var hasOnePhase: Bool { phases.count == 1 }
}

extension TestDatabase {
    /// Creates a collection, with a collation if one is given.
    func create(_ name: String, collation: BSONDocument?) async throws {
        let create: BSONDocument = ["create": .string(name)]
        try await run(collation.map { create.appending("collation", .object($0)) } ?? create)
    }
}
