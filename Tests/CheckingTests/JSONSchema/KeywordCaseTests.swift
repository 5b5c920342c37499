import BSON
import Conformance
import Proving
import Testing

/// Tests the cases of `Fixtures/keywords.jsonl`, whose verdicts are those of mongod 6.0.5.
@Suite("Keywords judge as mongod does")
struct KeywordCaseTests {
    @Test("every keyword, and every surprise that was found")
    func keywords() throws {
        var source = try CaseFile(Self.fixtures + "keywords.jsonl")
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

    /// The checker and mongod 6.0 differ in each case of `pcre8.jsonl`, as `docs/guide/check.md` says.
    ///
    /// A case on which both agree belongs in `keywords.jsonl`.
    @Test(
        "PCRE2 differs from the PCRE 8 of mongod 6.0 where the documentation says so, and nowhere is a doubt a verdict")
    func expressions() throws {
        var source = try CaseFile(Self.fixtures + "pcre8.jsonl")
        while let batch = try source.next() {
            for (group, expected) in batch {
                let answer = JudgingSchema(group.schema).answer(for: group.documents[0])
                let schema = try group.schema.extendedJSON()
                #expect(!answer.agrees(with: expected[0]), "\(schema): \(answer)")
            }
        }
    }

    private static let fixtures =
        String(#filePath.dropLast("CheckingTests/JSONSchema/KeywordCaseTests.swift".count)) + "Conformance/Fixtures/"
}
