import BSON
import Checking
import Concurrency
import Conformance
import ConformanceOracle
import Mongo
import Proving
import SystemPackage
import TestSupport
import Testing

/// Tests that the `jsonschema` dialect judges documents as mongod does, by asking a mongod.
@Suite("The jsonschema dialect agrees with mongod")
struct ConformanceTests {
    @Test("over random schemas and documents that nearly fit", arguments: [1, 2, 3, 4] as [UInt64])
    func generated(seed: UInt64) async throws {
        let build = try await Mongod.build
        try await Mongod.shared.withDatabase { database in
            let counts = try await onOwnedThread(name: "oracle") { () throws in
                let oracle = Oracle(try database.pool.client(), namespace: database.namespace("cases"))
                var cases = GeneratedCases(count: 6_000, seed: seed)
                var counts = Counts(build: build)
                while let batch = cases.next() {
                    let answers = try oracle.answers(for: batch.map(\.0))
                    for ((group, _), answers) in zip(batch, answers) { try counts.add(group, answers) }
                }
                return counts
            }
            #expect(counts.disagreements == [])
            // A server before 5.0 refuses to store some of the random documents, so fewer cases can be compared.
            #expect(counts.agreed + counts.differing >= (build.isAtLeast(5) ? 6_000 : 5_800))
            // If all cases had the same result, the agreement would prove little.
            #expect(counts.fitting > 1_000 && counts.fitting < counts.agreed - 1_000)
        }
    }

    @Test("over the fixed cases")
    func fixed() async throws {
        let build = try await Mongod.build
        try await Mongod.shared.withDatabase { database in
            let disagreements = try await onOwnedThread(name: "oracle") { () throws in
                let oracle = Oracle(try database.pool.client(), namespace: database.namespace("cases"))
                var source = try CaseFile(Self.fixedCases)
                var disagreements: [String] = []
                while let batch = try source.next() {
                    let answers = try oracle.answers(for: batch.map(\.0))
                    for ((group, expected), answers) in zip(batch, answers)
                    where !answers[0].agrees(with: expected[0])
                        && !build.isKnownToDiffer(on: group)
                    {
                        disagreements.append("\(try group.schema.extendedJSON()): \(answers[0])")
                    }
                }
                return disagreements
            }
            #expect(disagreements == [])
        }
    }

    private static let fixedCases = Repository.path("Tests/Conformance/Fixtures/keywords.jsonl").string

    private struct Counts: Sendable {
        let build: BuildInfo
        var agreed = 0
        /// The number of cases that this server is known to judge differently from mongod 6.0.5.
        var differing = 0
        var fitting = 0
        var disagreements: [String] = []

        mutating func add(_ group: CaseGroup, _ answers: [ConformanceAnswer]) throws {
            guard !build.isKnownToDiffer(on: group) else { return differing += group.documents.count }
            let schema = JudgingSchema(group.schema)
            for (document, expected) in zip(group.documents, answers) {
                if case .none = expected { continue }
                let answer = schema.answer(for: document)
                guard answer.agrees(with: expected) else {
                    disagreements.append(
                        "\(try group.schema.extendedJSON()) \(try document.extendedJSON()): \(expected), got \(answer)")
                    continue
                }
                agreed += 1
                if answer == .judged(true) { fitting += 1 }
            }
        }
    }
}

extension BuildInfo {
    /// Whether this server is known to judge documents by the group's schema differently from mongod 6.0.5.
    ///
    /// The page `docs/reference/servers.md` lists these differences.
    fileprivate func isKnownToDiffer(on group: CaseGroup) -> Bool {
        let text = (try? group.schema.extendedJSON()) ?? ""
        // Since MongoDB 6.0.6, a property with an empty name applies to the field with that name. Before, it applied to
        // the object that contains the field.
        if !numbers.lexicographicallyPrecedes([6, 0, 6]) { return text.contains(#""" : {"#) }
        // A server before 6.0 refuses a `title` inside `dependencies`, and some forms of `encrypt`.
        guard !isAtLeast(6) else { return false }
        return text.contains(#""encrypt""#) || text.contains(#""title""#)
    }
}
