import BSON
import Concurrency
import Mongo
import TestSupport
import Testing

@testable import Evaluating
@testable import Proving

/// Tests that the client computes steps as the server does, or leaves them to the server.
@Suite struct ComputingProofTests {
    /// Calls `body` with a comparison on the test's server, on a thread of its own.
    private func withProof<Result: Sendable>(
        seed: UInt64 = 1, _ body: @escaping @Sendable (inout ComputingProof) throws -> Result
    ) async throws -> Result {
        try await Mongod.shared.withDatabase { database in
            let (pool, place) = (database.pool, database.namespace("none"))
            return try await onOwnedThread(name: "prove") { () throws in
                let client = try pool.client()
                var proof = ComputingProof(
                    on: client.collection(place), wireVersion: try client.hello().maxWireVersion, seed: seed)
                return try body(&proof)
            }
        }
    }

    @Test(arguments: [1, 2] as [UInt64]) func eachKindOfStepIsComputedAsTheServerDoes(_ seed: UInt64) async throws {
        let turns = TestScale.pick(700, full: 2_000, torture: 20_000)
        let part = try await withProof(seed: seed) { proof in
            for _ in 0..<turns { try proof.next() }
            return proof.part
        }
        #expect(part.differences.map { "\($0)" } == [])
        #expect(part.cases > turns * 20, "\(part.cases)")
        #expect(part.counts.values.allSatisfy { $0 >= 20 }, "\(part.counts)")
    }

    @Test func eachKindOfStepIsAmongTheCases() async throws {
        let missing = try await withProof { proof in
            proof.forms.filter { $0.phases.isEmpty }.map(\.text)
        }
        #expect(missing == [])
    }

    /// The operators that occur in the steps' expressions, without those that the client leaves to the server.
    private static let operators = [
        "$abs", "$allElementsTrue", "$and", "$anyElementTrue", "$arrayElemAt", "$arrayToObject", "$bsonSize",
        "$concat", "$cond", "$convert", "$divide", "$eq", "$filter", "$gt", "$gte", "$ifNull", "$in",
        "$indexOfBytes", "$isNumber", "$let", "$lt", "$lte", "$map", "$mergeObjects", "$multiply", "$ne", "$not",
        "$objectToArray", "$or", "$regexMatch", "$round", "$rtrim", "$size", "$split", "$strLenBytes", "$substrBytes",
        "$toString", "$type", "$zip",
    ]

    /// Expects that the comparison finds a mistake in each operator.
    @Test(arguments: TestScale.drawn(operators, 6)) func aMistakeInAnOperatorIsFound(_ name: String) async throws {
        let found = try await Mongod.shared.withDatabase { database in
            let (pool, place) = (database.pool, database.namespace("none"))
            return try await onOwnedThread(name: "prove") { () throws -> Bool in
                let client = try pool.client()
                let wireVersion = try client.hello().maxWireVersion
                return try ExpressionCompiler.mistakes.indices.contains { mistake in
                    try FaultInjection.$plantedPart.withValue("operator:\(name)#\(mistake)") {
                        var proof = ComputingProof(
                            on: client.collection(place), wireVersion: wireVersion, seed: 1)
                        for _ in 0..<StepCases.forms.count * 8 where proof.part.differences.isEmpty {
                            try proof.next()
                        }
                        return !proof.part.differences.isEmpty
                    }
                }
            }
        }
        #expect(found)
    }

    /// A job whose documents all fail on the server does not wait for an answer about each of them.
    @Test func aComparisonDividesDocumentsOnlyWithinItsTime() async throws {
        let failures = try await Mongod.shared.withDatabase { database in
            let (pool, place) = (database.pool, database.namespace("none"))
            return try await onOwnedThread(name: "prove") { () throws -> [Int] in
                let client = try pool.client()
                let step = "expression: {field: w, value: {$dateFromString: {dateString: $v}}}"
                let phases = ComputingProof.phases([step], wireVersion: try client.hello().maxWireVersion)
                let phase = try #require(phases.first)
                let documents = (0..<64).map { BSONDocument([("_id", .integer($0)), ("v", "no date")]) }
                return try [nil, ContinuousClock.now].map { end in
                    try phase.compare(documents, on: client.collection(place), until: end).failures.count
                }
            }
        }
        #expect(failures == [64, 1])
    }

    /// A difference is shown by a document of which every field matters.
    @Test func aDifferenceIsShownByASmallDocument() async throws {
        let differences = try await Mongod.shared.withDatabase { database in
            let (pool, place) = (database.pool, database.namespace("none"))
            return try await onOwnedThread(name: "prove") { () throws -> [Proof.Difference] in
                let client = try pool.client()
                return try FaultInjection.$plantedPart.withValue("operator:$split#1") {
                    var proof = ComputingProof(
                        on: client.collection(place), wireVersion: try client.hello().maxWireVersion, seed: 1)
                    for _ in 0..<StepCases.forms.count * 8 where proof.part.differences.isEmpty { try proof.next() }
                    return proof.part.differences
                }
            }
        }
        let difference = try #require(differences.first)
        #expect(difference.subject.hasPrefix("split: "), "\(difference)")
        let document = try #require(difference.reproduction["document"]?.document)
        #expect(try document.elements().count <= 2, "\(document)")
    }
}
