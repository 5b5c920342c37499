import BSON
import Mongo
import Proving
import TestSupport
import Testing

/// The program tries its assumptions about writing on the connected server.
@Suite struct WritingProofTests {
    private func prove(_ pool: ClientPool, in database: String) async throws -> Proof.Part {
        try await pool.run { _ in try WritingProof.run(on: pool, in: database) }
    }

    private func collections(of database: TestDatabase) async throws -> [String] {
        let name = database.name
        return try await database.pool.withClient { client throws(MongoError) in
            try client.listCollections(of: name).map(\.name).sorted()
        }
    }

    @Test func everyAssumptionHoldsOnThisServer() async throws {
        try await Mongod.shared.withDatabase("prove") { database in
            let part = try await prove(database.pool, in: database.name)
            #expect(part.differences.isEmpty, "\(part.differences.map { "\($0.subject): \($0.server)" })")
            #expect(part.cases + part.unanswered == Assumption.all.count)
            // Servers before 6.0 have no `collectionUUID`.
            #expect(part.unanswered <= 1, "\(part.restriction ?? "")")
            #expect(Set(part.counts.keys) == Set(Assumption.all.map(\.name)))
            #expect(try await collections(of: database) == [])
        }
    }

    @Test func everyAssumptionHasAViolation() {
        #expect(Set(AssumptionViolation.all.map(\.name)) == Set(Assumption.all.map(\.name)))
    }

    @Test(arguments: AssumptionViolation.all)
    func aServerThatContradictsAnAssumptionIsFound(_ violation: AssumptionViolation) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase("prove") { database in
            let build = try await database.pool.withClient { client throws(MongoError) in try client.buildInfo() }
            guard violation.name != "renamed-collection" || build.isAtLeast(6) else { return }
            let proxy = try ReplyProxy(
                before: mongod.host, answering: violation.answer, changing: violation.change)
            defer { proxy.close() }
            let pool = try ClientPool.open(ConnectionOptions(uri: proxy.uri))
            let part = try await prove(pool, in: database.name)
            #expect(
                part.differences.contains { $0.subject == violation.name },
                "\(part.differences.map(\.subject)), \(part.restriction ?? "")")
            #expect(try await collections(of: database) == [])
        }
    }

    @Test func theCollectionOfAKilledProofIsDroppedByTheNextOne() async throws {
        try await Mongod.shared.withDatabase("prove") { database in
            // The first name is from the year 1970, and the second is not the name of a proof's collection.
            for name in ["prove_10_ab", "prove_of_mine"] { try await database.run(["create": .string(name)]) }
            _ = try await prove(database.pool, in: database.name)
            #expect(try await collections(of: database) == ["prove_of_mine"])
        }
    }

    @Test func aStandaloneServerHasNothingToTry() async throws {
        let mongod = try await Mongod.start(.standalone)
        let part = try await prove(try mongod.pool(), in: "shipshape")
        #expect(part.cases == 0 && part.unanswered == Assumption.all.count)
        #expect(part.restriction?.contains("standalone") == true)
    }

    @Test func aStoppedProofTriesNothingMore() async throws {
        try await Mongod.shared.withDatabase("prove") { database in
            let (pool, name) = (database.pool, database.name)
            let part = try await pool.run { _ in try WritingProof.run(on: pool, in: name, isStopped: { true }) }
            #expect(part.cases == 0 && part.unanswered == Assumption.all.count && part.differences.isEmpty)
            #expect(try await collections(of: database) == [])
        }
    }
}
