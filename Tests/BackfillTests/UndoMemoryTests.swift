import BSON
import Testing

@testable import Backfill
@testable import JobState
@testable import Jobs

/// Tests what an undo remembers: the documents that it skipped, and the fields that it restored.
@Suite struct UndoMemoryTests {
    @Test func aDocumentThatIsSkippedStaysSoForOlderEntries() {
        var memory = UndoMemory()
        let (first, second) = (memory.leave(2), memory.leave(2))
        #expect(first)
        #expect(!second)
        #expect([1, 2, 3].map { memory.isOpen($0) } == [true, false, true])
        memory.begin()
        #expect(!memory.isOpen(2))
    }

    @Test func aRefusalHoldsForOneJournalDocument() {
        var memory = UndoMemory()
        memory.refuse(1, 121)
        #expect(memory.refused == [1: 121])
        memory.begin()
        #expect(memory.refused.isEmpty)
    }

    @Test func anOlderEntryFindsWhatANewerOneRestored() throws {
        var memory = UndoMemory()
        let older = try Restoring.changed(1, "a", was: "first").group
        #expect(try !memory.isRestored(["a": "between"], of: 1, in: older))
        memory.finish([try .changed(1, "a", was: "between")], undone: [0])
        #expect(memory.done == [0])
        #expect(try memory.isRestored(["a": "between"], of: 1, in: older))
        #expect(try !memory.isRestored(["a": "between"], of: 2, in: older))
        #expect(try !memory.isRestored(["b": "between"], of: 1, in: try Restoring.changed(1, "b", was: "x").group))
        // The field already has the value "x", which the journal entry would restore, so it counts as restored even if
        // undo did not restore it.
        #expect(try memory.isRestored(["b": "x"], of: 1, in: try Restoring.changed(1, "b", was: "x").group))
    }
}
