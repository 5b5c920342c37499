import BSON
import Testing

@testable import Backfill
@testable import JobState
@testable import Jobs

/// Tests that a dry run of undo remembers the documents that it would restore.
///
/// When the dry run then compares an older journal entry with such a document, it uses the restored document.
@Suite struct UndoOverlayTests {
    private func part(pass: Int, sequence: Int64, after: BSONValue?, touched: String) throws -> JournalPart {
        let part = try JournalPart([
            "_id": ["job": "job", "range": 0, "seq": .long(sequence), "part": 0], "pass": .integer(pass), "phase": 0,
            "chunk": ["number": after ?? 0],
            "touched": .array(of: [.string(touched)]), "groups": [],
        ])
        return try #require(part)
    }

    private func pass(_ number: Int, _ touched: String) -> JournalStore.Pass {
        JournalStore.Pass(pass: number, chunks: 1, changes: 1, touched: [touched])
    }

    @Test func anOlderPassSeesWhatALaterOneWouldHaveRestored() throws {
        var overlay = UndoOverlay([pass(1, "a"), pass(2, "a")], judgesWhole: false)
        overlay.enter(try part(pass: 2, sequence: 2, after: nil, touched: "a"))
        overlay.restore(try .changed(1, "a", was: "between"))
        overlay.enter(try part(pass: 1, sequence: 1, after: nil, touched: "a"))
        let document: BSONDocument = ["_id": 1, "a": "new", "z": 1]
        #expect(try overlay.document(1, document) == ["_id": 1, "a": "between", "z": 1])
        overlay.restore(try .changed(1, "a", was: "first"))
        #expect(try overlay.document(1, document) == ["_id": 1, "a": "first", "z": 1])
        // The dry run undoes pass 1 last, so no later step needs the values that it restored in a chunk of pass 1. The
        // overlay drops these values when the next chunk begins.
        overlay.enter(try part(pass: 1, sequence: 0, after: 5, touched: "a"))
        #expect(try overlay.document(1, document) == ["_id": 1, "a": "between", "z": 1])
    }

    @Test func whereWholeDocumentsAreJudgedEveryLaterPassCounts() throws {
        for judgesWhole in [true, false] {
            var overlay = UndoOverlay([pass(1, "a"), pass(2, "b")], judgesWhole: judgesWhole)
            overlay.enter(try part(pass: 2, sequence: 2, after: nil, touched: "b"))
            overlay.restore(try .changed(1, "b", was: 0))
            overlay.enter(try part(pass: 1, sequence: 1, after: nil, touched: "a"))
            let seen = try overlay.document(1, ["_id": 1, "b": "new"])["b"]
            #expect(seen == (judgesWhole ? 0 : "new"))
        }
    }

    @Test func itIsBoundedAndSaysSo() throws {
        var overlay = UndoOverlay([pass(1, "a"), pass(2, "a")], judgesWhole: false, maximum: 1)
        overlay.enter(try part(pass: 2, sequence: 2, after: nil, touched: "a"))
        overlay.restore(try .changed(1, "a", was: 0))
        #expect(!overlay.isFull)
        overlay.restore(try .changed(2, "a", was: 0))
        #expect(overlay.isFull)
        overlay.enter(try part(pass: 1, sequence: 1, after: nil, touched: "a"))
        #expect(try overlay.document(1, ["_id": 1, "a": "new"])["a"] == 0)
        #expect(try overlay.document(2, ["_id": 2, "a": "new"])["a"] == "new")
    }
}

extension Restoring {
    /// Returns the ``Restoring`` of a document in which a job changed one field to "new".
    static func changed(_ id: BSONValue, _ name: String, was: BSONValue) throws -> Restoring {
        var journal = ChunkJournal(touched: [name])
        try journal.add(id, before: BSONDocument([(name, was)]), after: BSONDocument([(name, .string("new"))]))
        let stored = try #require(journal.parts.first?.document?.values.first?.document)
        return Restoring(id: id, index: 0, group: try #require(try JournalGroup(stored)), current: ["_id": id])
    }
}
