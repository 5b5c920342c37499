import BSON
import Mongo
import Testing

@testable import Backfill
@testable import JobState
@testable import Jobs

/// Tests which documents an undo restores by one statement.
@Suite struct RestoringStatementsTests {
    /// Returns documents whose field `o` a job changed from `before(index)` to `after(index)`, and that have
    /// `now(index)` there, each with a group of its own in the journal.
    private func documents(
        _ count: Int, before: (Int) -> BSONValue?, after: @escaping (Int) -> BSONValue, now: ((Int) -> BSONValue)? = nil
    ) throws -> [Restoring] {
        try (0..<count).map { index in
            var journal = ChunkJournal(touched: ["o"])
            let was: BSONDocument = before(index).map { ["o": $0] } ?? [:]
            try journal.add(.integer(index), before: was, after: ["o": after(index)])
            let stored = try #require(journal.parts.first?.document?.values.first?.document)
            let group = try #require(try JournalGroup(stored))
            return Restoring(
                id: .integer(index), index: index, group: group,
                current: ["_id": .integer(index), "o": (now ?? after)(index)])
        }
    }

    private func statements(_ documents: [Restoring], grouped: Bool = true) throws -> RestoringStatements {
        try RestoringStatements(documents, grouped: grouped, guarded: false)
    }

    @Test func documentsFromWhichTheSameFieldIsRemovedShareAStatement() throws {
        let statements = try statements(documents(100, before: { _ in nil }, after: { .integer($0) }))
        #expect(statements.all.count == 1)
        #expect(statements.all[0].update == ["$unset": ["o": ""]])
        #expect(statements.all[0].filter["_id"]?.document?["$in"]?.document?.values.count == 100)
        #expect(statements.onlyDocument(of: 0) == nil)
    }

    @Test func documentsWithOtherValuesBeforeDoNotShareOne() throws {
        #expect(try statements(documents(6, before: { .integer($0 / 2) }, after: { _ in "x" })).all.count == 3)
    }

    @Test func afterARefusalEachDocumentHasItsOwnStatement() throws {
        let statements = try statements(documents(3, before: { _ in 1 }, after: { _ in "x" }), grouped: false)
        #expect(statements.all.count == 3)
        #expect((0..<3).map { statements.onlyDocument(of: $0) } == [0, 1, 2])
    }

    @Test func anotherClientsChangeWithinTheObjectStays() throws {
        let all = try documents(
            2, before: { _ in ["x": 1, "y": 1] }, after: { _ in ["x": "1", "y": 1] },
            now: { $0 == 0 ? ["x": "1", "y": 2] : ["x": "1", "y": 1] })
        #expect(try all.map { try $0.group.compare($0.current) } == [.asWritten, .asWritten])
        #expect(try all[0].restored() == ["_id": 0, "o": ["x": 1, "y": 2]])
        #expect(try all[1].restored() == ["_id": 1, "o": ["x": 1, "y": 1]])
        #expect(try statements(all).all.count == 2)
    }

    @Test func aChangeAtThePathItselfIsFound() throws {
        let all = try documents(
            1, before: { _ in ["x": 1] }, after: { _ in ["x": "1"] }, now: { _ in ["x": 2] })
        #expect(try all[0].group.compare(all[0].current) == .changed(others: [["o", "x"]], written: []))
        #expect(try all[0].group.compare(["_id": 0, "o": ["x": 1]]) == .asBefore)
        #expect(try all[0].group.compare(["_id": 0]) == .changed(others: [["o"]], written: []))
    }

    /// The job removed `u`, set `n` and two paths of `o`; clients then changed `n` and one of the paths.
    @Test func theOtherPathsOfAChangedDocumentAreRestoredAtTheirPlaces() throws {
        let before: BSONDocument = ["_id": 1, "u": 5, "z": 1, "o": ["x": 1, "y": 2], "n": 3]
        let after: BSONDocument = ["_id": 1, "z": 1, "o": ["x": "1", "y": "2"], "n": "3"]
        var journal = ChunkJournal(touched: ["n", "o", "u"])
        try journal.add(before: before, after: after, positions: before.positions(of: ["n", "o", "u"]))
        let group = try #require(
            try journal.parts.first?.document?.values.first?.document.flatMap { try JournalGroup($0) })
        let entry = JournalPart.Entry(id: 1, group: 0)
        let now: BSONDocument = ["_id": 1, "z": 1, "o": ["x": "1", "y": 9, "w": 7], "n": 4]
        guard case .changed(let others, let written) = try group.compare(now) else {
            Issue.record("the document has changed")
            return
        }
        #expect(others == [["n"], ["o", "y"]])
        #expect(written == [["o", "x"], ["u"]])
        let restored = try group.part(at: written, of: entry).restored(now)
        #expect(restored == ["_id": 1, "u": 5, "z": 1, "o": ["x": 1, "y": 9, "w": 7], "n": 4])
        let stored = try group.part(at: others, of: entry).stored(keeping: [0], evidenceWidth: 0)
        let rest = try #require(try stored.document.flatMap { try JournalGroup($0) })
        #expect(try rest.compare(restored) == .changed(others: [["n"], ["o", "y"]], written: []))
        let mended = try restored.replacing("n", with: "3").replacing("o", with: ["x": 1, "y": "2", "w": 7])
        #expect(try rest.compare(mended) == .asWritten)
        #expect(try rest.restored(mended) == ["_id": 1, "u": 5, "z": 1, "o": ["x": 1, "y": 2, "w": 7], "n": 3])
    }

    @Test func aPathWhoseObjectAClientRemovedIsNotRestored() throws {
        let all = try documents(
            1, before: { _ in ["p": ["x": 1, "y": 1]] }, after: { _ in ["p": ["y": 1]] }, now: { _ in [:] })
        #expect(try all[0].group.compare(all[0].current) == .changed(others: [["o", "p", "x"]], written: []))
    }
}
