import BSON
import Testing

@testable import Backfill
@testable import JobState
@testable import Jobs

/// Tests what an undo remembers: the documents that it skipped, and the fields that it restored.
@Suite struct UndoMemoryTests {
    @Test func aDocumentIsSkippedOnce() {
        var memory = UndoMemory()
        let first = memory.leave(2)
        memory.begin()
        let second = memory.leave(2)
        #expect(first)
        #expect(!second)
        #expect(memory.left == [2])
    }

    @Test func aRefusalHoldsForOneJournalDocument() {
        var memory = UndoMemory()
        memory.refused[1] = 121
        memory.begin()
        #expect(memory.refused.isEmpty)
    }

    @Test func anOlderEntryFindsWhatANewerOneRestored() throws {
        var memory = UndoMemory()
        #expect(!memory.isRestored("a", of: 1))
        memory.finish([try .changed(1, "a", was: "between")], needless: [3])
        #expect(memory.done == [0, 3])
        memory.begin()
        #expect(memory.done.isEmpty)
        #expect(memory.isRestored("a", of: 1))
        #expect(!memory.isRestored("a", of: 2))
        #expect(!memory.isRestored("b", of: 1))
    }

    @Test func anEntryOfWhichSomePathsAreLeftIsNotDone() throws {
        var memory = UndoMemory()
        var document = try Restoring.changed(1, "a", was: "between")
        document.rest = document.group
        memory.finish([document], needless: [])
        #expect(memory.done.isEmpty)
        #expect(memory.rests.keys.sorted() == [0])
    }
}
