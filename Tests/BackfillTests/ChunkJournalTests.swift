import BSON
import Backfill
import Testing

@testable import Backfill
@testable import JobState

/// Tests the journal entries for a chunk of documents.
@Suite struct ChunkJournalTests {
    private func groups(_ journal: ChunkJournal) throws -> [JournalGroup] {
        try journal.parts.flatMap {
            try ($0.document?.values ?? []).compactMap { try $0.document.flatMap { try JournalGroup($0) } }
        }
    }

    @Test func additionsOfOneConstantShareADigest() throws {
        var journal = ChunkJournal(touched: ["email"])
        for id in 0..<1_000 {
            try journal.add(before: ["_id": .integer(id)], after: ["_id": .integer(id), "email": ""])
        }
        let groups = try groups(journal)
        #expect(groups.count == 1)
        #expect(groups.first?.ids == (0..<1_000).map { .integer($0) })
        #expect(groups.first?.before == [:])
        #expect(groups.first?.added == ["email"])
        let after: BSONDocument = ["email": ""]
        #expect(groups.first?.after == [JournalDigest(of: try after.view.find("email"), in: after.view)])
        #expect(journal.count == 1_000)
        #expect(journal.bytes < 1_000 * 30 + 200)
    }

    @Test func onlyFieldsThatChangeAreKept() throws {
        var journal = ChunkJournal(touched: ["age", "email"])
        try journal.add(before: ["_id": 1, "age": 5, "email": "x"], after: ["_id": 1, "age": "5", "email": "x"])
        try journal.add(before: ["_id": 2, "age": "5", "email": "x"], after: ["_id": 2, "age": "5", "email": "x"])
        let group = try #require(try groups(journal).first)
        #expect(journal.count == 1)
        #expect(group.before == ["age": 5])
        #expect(group.names == ["age"])
        let after: BSONDocument = ["age": "5"]
        #expect(group.after == [JournalDigest(of: try after.view.find("age"), in: after.view)])
    }

    @Test func aTypeIsAChange() throws {
        var journal = ChunkJournal(touched: ["n"])
        try journal.add(before: ["_id": 1, "n": 1], after: ["_id": 1, "n": .long(1)])
        try journal.add(before: ["_id": 2, "n": .double(0)], after: ["_id": 2, "n": .double(-0.0)])
        #expect(journal.count == 2)
    }

    @Test func aPartHasEightMebibytesAtMost() throws {
        var journal = ChunkJournal(touched: ["text"])
        let text = String(repeating: "x", count: 1 << 20)
        for id in 0..<20 {
            try journal.add(
                before: ["_id": .integer(id), "text": .string("\(id)" + text)], after: ["_id": .integer(id)])
        }
        #expect(journal.parts.count == 3)
        for part in journal.parts { #expect(BSONDocument([("p", part)]).bytes.count <= ChunkJournal.partSize + 100) }
        #expect(try groups(journal).flatMap(\.ids) == (0..<20).map { .integer($0) })
    }

    @Test func aFieldThatGoesIsPutBackAtItsPlace() throws {
        let before: BSONDocument = ["_id": 1, "a": 1, "b": 2, "c": 3, "d": 4]
        let after: BSONDocument = ["_id": 1, "a": 1, "c": "3", "d": 4, "e": 5]
        var journal = ChunkJournal(touched: ["b", "c", "e"])
        try journal.add(before: before, after: after, positions: try before.positions(of: ["b", "c", "e"]))
        let group = try #require(try groups(journal).first)
        #expect(group.places == [2, 3])
        let restoring = Restoring(id: 1, index: 0, group: group, current: after)
        #expect(try restoring.restored() == before)
        // Undo keeps fields that other clients have added since the job.
        let later = Restoring(id: 1, index: 0, group: group, current: after.appending("f", 6))
        #expect(try later.restored() == before.appending("f", 6))
    }
}

extension ChunkJournal {
    /// Adds a document that `old` has as a whole, with its `_id` unless another one is given.
    mutating func add(
        _ id: BSONValue? = nil, before old: BSONDocument, after new: BSONDocument, positions: [Int]? = nil
    ) throws {
        try add(id ?? old["_id"] ?? .null, before: old.view, after: new.view, positions: positions)
    }
}
