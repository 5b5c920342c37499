import BSON
import Testing

@testable import JobState

/// Tests how fields that a job does not write show whether a document was replaced by another one with the same `_id`.
@Suite struct DocumentEvidenceTests {
    private static let evidence = DocumentEvidence(["a", "b", "c", "d"])

    static let cases: [(was: BSONDocument, now: BSONDocument, isReplaced: Bool)] = [
        (["a": 1, "b": 2], ["a": 1, "b": 2], false), (["a": 1, "b": 2], ["a": 1, "b": 3], false),
        (["a": 1, "b": 2], ["a": 2, "b": 3], true), (["a": 1], ["a": 1, "b": 2, "c": 3], false),
        // In the first of these cases, only `a` is equal. A single field may be equal by chance, so it does not prove
        // that the document is the same.
        (["a": 1], ["a": 1, "b": 2, "c": 3, "d": 4], true), (["a": 1], [:], true), ([:], ["a": 1], false),
        ([:], ["a": 1, "b": 2], false), ([:], [:], false),
    ]

    @Test(arguments: cases) func aReplacedDocumentIsReported(
        _ one: (was: BSONDocument, now: BSONDocument, isReplaced: Bool)
    ) throws {
        let before = try Self.evidence.digest(of: one.was)
        #expect(try Self.evidence.isReplaced(one.now, since: before[...]) == one.isReplaced)
    }
}
