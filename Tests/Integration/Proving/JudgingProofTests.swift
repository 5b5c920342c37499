import BSON
import Concurrency
import Mongo
import TestSupport
import Testing

@testable import Proving

/// Tests that the comparison of verdicts finds each mistake, and none where there is none.
@Suite struct JudgingProofTests {
    /// Returns what was compared after a number of turns; with a planted mistake, after the first difference.
    private func part(turns: Int, planting keyword: String? = nil) async throws -> Proof.Part {
        try await Mongod.shared.withDatabase { database in
            let (pool, place) = (database.pool, database.namespace("none"))
            return try await onOwnedThread(name: "prove") { () throws -> Proof.Part in
                let client = try pool.client()
                return try FaultInjection.$plantedPart.withValue(keyword.map { "keyword:\($0)" }) {
                    var proof = JudgingProof(
                        on: client.collection(place), of: try client.buildInfo(), seed: 1)
                    for _ in 0..<turns where keyword == nil || proof.part.differences.isEmpty { try proof.next() }
                    return proof.part
                }
            }
        }
    }

    @Test func theServerGivesTheSameVerdicts() async throws {
        let part = try await part(turns: TestScale.pick(1_500, full: 5_000, torture: 50_000))
        #expect(part.differences.map { "\($0)" } == [])
        #expect(part.cases > 10_000)
        // On a server before 6.0, schemas with `encrypt` are left out, because it refuses some of its forms.
        let build = try await Mongod.build
        #expect(
            Set(part.counts.keys) == SchemaGenerator.keywords.subtracting(build.isAtLeast(6) ? [] : ["encrypt"]))
        #expect(part.counts.values.allSatisfy { $0 >= 20 }, "\(part.counts)")
    }

    private static let keywords = SchemaGenerator.keywords.subtracting([
        // Each of them only matters beside another keyword, or for encrypted data.
        "encryptMetadata", "exclusiveMinimum", "exclusiveMaximum",
    ]).sorted()

    @Test(arguments: TestScale.drawn(keywords, 6)) func aMistakeInAKeywordIsFound(_ keyword: String) async throws {
        let build = try await Mongod.build
        guard keyword != "encrypt" || build.isAtLeast(6) else { return }
        let part = try await part(turns: 3_000, planting: keyword)
        let difference = try #require(part.differences.first)
        #expect(difference.subject.contains(keyword), "\(difference)")
        let document = try #require(difference.reproduction["document"]?.document)
        #expect(try document.elements().count <= 4, "\(document)")
    }
}
