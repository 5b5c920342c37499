import BSON
import Conformance
import Testing

/// The cases of `Fixtures/keywords.jsonl`, whose verdicts mongod 6.0.5 gave.
@Suite("Keywords judge as mongod does")
struct KeywordCaseTests {
    @Test("every keyword, and every surprise that was found")
    func keywords() throws {
        var source = try CaseFile(Self.path)
        var count = 0
        while let batch = try source.next() {
            for (group, expected) in batch {
                let answer = JudgingSchema(group.schema).answer(for: group.documents[0])
                let schema = try group.schema.extendedJSON()
                #expect(answer.agrees(with: expected[0]), "\(schema): \(answer)")
                count += 1
            }
        }
        #expect(count > 400)
    }

    static let path =
        String(#filePath.dropLast("CheckingTests/JSONSchema/KeywordCaseTests.swift".count))
        + "Conformance/Fixtures/keywords.jsonl"
}
