import BSON
import Testing

@testable import JobState

/// A document is told from another that has its `_id` later by the fields that the job does not write.
@Suite struct DocumentEvidenceTests {
    private static let evidence = DocumentEvidence(["a", "b", "c", "d"])

    static let cases: [(was: BSONDocument, now: BSONDocument, isReplaced: Bool)] = [
        (["a": 1, "b": 2], ["a": 1, "b": 2], false), (["a": 1, "b": 2], ["a": 1, "b": 3], false),
        (["a": 1, "b": 2], ["a": 2, "b": 3], true), (["a": 1], ["a": 1, "b": 2, "c": 3], false),
        // The one field that it had is the same by chance.
        (["a": 1], ["a": 1, "b": 2, "c": 3, "d": 4], true), (["a": 1], [:], true), ([:], ["a": 1], false),
        ([:], ["a": 1, "b": 2], false), ([:], [:], false),
    ]

    @Test(arguments: cases) func aReplacedDocumentIsTold(
        _ one: (was: BSONDocument, now: BSONDocument, isReplaced: Bool)
    ) throws {
        let before = try Self.evidence.digest(of: one.was)
        #expect(try Self.evidence.isReplaced(one.now, since: before[...]) == one.isReplaced)
    }
}
