import BSON
import Concurrency
import Mongo
import TestSupport
import Testing

@testable import Proving

/// Tests that the comparison of orders and sizes finds a server that differs, and none where there is none.
@Suite struct ReadingProofTests {
    /// Returns what was compared in a few turns, with replies that `change` makes of the server's.
    private func part(
        _ change: @Sendable @escaping (BSONDocument, BSONDocument) throws -> BSONDocument = { $1 }
    ) async throws -> Proof.Part {
        let mongod = try await Mongod.shared
        return try await mongod.withDatabase { database in
            let proxy = try ReplyProxy(before: mongod.host, changing: change)
            defer { proxy.close() }
            let (pool, place) = (try ClientPool.open(ConnectionOptions(uri: proxy.uri)), database.namespace("none"))
            return try await onOwnedThread(name: "prove") { () throws -> Proof.Part in
                var proof = ReadingProof(on: try pool.client().collection(place), seed: 1)
                for _ in 0..<60 { try proof.next() }
                return proof.part
            }
        }
    }

    @Test func theServerGivesTheSameOrdersAndSizes() async throws {
        let part = try await part()
        #expect(part.differences.map { "\($0)" } == [])
        #expect(part.counts.count == 3 && part.counts.values.allSatisfy { $0 >= 20 }, "\(part.counts)")
    }

    @Test(arguments: [("$sort", 2), ("$bsonSize", 1)])
    func aServerThatDiffersIsFound(_ stage: String, questions: Int) async throws {
        let part = try await part { request, reply in
            guard try request.extendedJSON().contains(stage) else { return reply }
            return try reply.changingBatches { documents in
                try stage == "$sort" ? documents.reversed() : documents.map { try $0.replacing("s", with: 1) }
            }
        }
        #expect(Set(part.differences.map(\.subject)).count == questions, "\(part.differences)")
    }
}
