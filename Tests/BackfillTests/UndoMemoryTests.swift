import BSON
import Testing

@testable import Backfill
@testable import JobState
@testable import Jobs

/// Tests what an undo remembers: the documents that it still has to decide about, the documents that the job wrote, and
/// the fields that the undo restored.
@Suite struct UndoMemoryTests {
    private static func written(missed: [BSONValue] = [], unsure: [BSONValue] = []) -> JournalStore.Written {
        var written = JournalStore.Written()
        (written.missed, written.unsure) = (missed, unsure)
        return written
    }

    @Test func aDocumentThatIsSkippedStaysSoForOlderEntries() {
        var memory = UndoMemory(rewritten: nil, leftBefore: [1])
        #expect([1, 2, 3].map { memory.isOpen($0) } == [false, true, true])
        let (first, second) = (memory.leave(2), memory.leave(2))
        #expect(first)
        #expect(!second)
        #expect([1, 2, 3].map { memory.isOpen($0) } == [false, false, true])
        #expect(memory.left == [1, 2])
    }

    @Test func aRetryReadsNothingElse() {
        var memory = UndoMemory(rewritten: nil, leftBefore: [1], retried: [2, 3])
        #expect(memory.isRetry)
        #expect([1, 2, 3, 4].map { memory.isOpen($0) } == [false, true, true, false])
        #expect([1, 2].map { memory.retries($0) } == [false, true])
        _ = memory.leave(2)
        #expect(!memory.isOpen(2))
    }

    @Test func withoutARetryNoDocumentIsRetried() {
        let memory = UndoMemory(rewritten: nil, leftBefore: [1])
        #expect(!memory.isRetry)
        #expect(!memory.retries(1))
    }

    @Test func anAttemptThatWasNotAcknowledgedIsNotKnownToHaveWritten() {
        var memory = UndoMemory(rewritten: nil, leftBefore: [])
        memory.begin(Self.written(missed: [1], unsure: [2]))
        #expect([1, 2, 3].map { memory.isMissed($0) } == [true, false, false])
        #expect([1, 2, 3].map { memory.isWritten($0) } == [false, false, true])
        memory.begin(nil)
        #expect([1, 2, 3].map { memory.isMissed($0) } == [false, false, false])
        #expect([1, 2, 3].map { memory.isWritten($0) } == [false, false, false])
    }

    @Test func aWriteIsRememberedUntilItsBatchEnds() {
        var memory = UndoMemory(rewritten: nil, leftBefore: [])
        memory.send([1, 2])
        #expect([1, 2, 3].map { memory.wasSent($0) } == [true, true, false])
        memory.endBatch()
        #expect(!memory.wasSent(1))
    }

    @Test func anOlderEntryFindsWhatANewerOneRestored() throws {
        var memory = UndoMemory(rewritten: [], leftBefore: [])
        let older = try Restoring.changed(1, "a", was: "first").group
        #expect(try !memory.isRestored(["a": "between"], of: 1, in: older))
        memory.restore([try .changed(1, "a", was: "between")])
        #expect(try memory.isRestored(["a": "between"], of: 1, in: older))
        #expect(try !memory.isRestored(["a": "between"], of: 2, in: older))
        #expect(try !memory.isRestored(["b": "between"], of: 1, in: try Restoring.changed(1, "b", was: "x").group))
        // The field already has the value "x", which the journal entry would restore, so it counts as restored even if
        // undo did not restore it.
        #expect(try memory.isRestored(["b": "x"], of: 1, in: try Restoring.changed(1, "b", was: "x").group))
    }

    @Test(arguments: [["a"], nil] as [Set<String>?])
    func aFieldThatAJobMightHaveMadeAgainCountsAsChanged(_ rewritten: Set<String>?) throws {
        var memory = UndoMemory(rewritten: rewritten, leftBefore: [])
        memory.restore([try .changed(1, "a", was: "between")])
        #expect(try !memory.isRestored(["a": "between"], of: 1, in: try Restoring.changed(1, "a", was: "first").group))
    }
}
