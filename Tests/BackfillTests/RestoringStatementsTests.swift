import BSON
import Mongo
import Testing

@testable import Backfill
@testable import JobState
@testable import Jobs

/// Tests which documents an undo restores by one statement.
@Suite struct RestoringStatementsTests {
    private let lease = Lease(token: 1, end: 0, terms: LeaseTerms(duration: .seconds(20)))

    /// Returns documents that a job changed, each with a group of its own in the journal.
    ///
    /// Before the job, each document had the fields `before`, and lacked the fields `added`. The field `n` now has the
    /// value that `value` returns for the document's index.
    private func documents(
        _ count: Int = 100, before: BSONDocument = [:], added: [String] = ["n"], _ value: (Int) -> BSONValue
    ) throws -> [Restoring] {
        try (0..<count).map { index in
            let now: BSONDocument = ["n": value(index)]
            let group = try JournalGroup([
                "b": .object(before), "n": .array(of: added.map { .string($0) }), "a": JournalDigest(of: now).bson,
                "i": [.integer(index)],
            ])
            let current: BSONDocument = ["_id": .integer(index), "n": value(index)]
            return Restoring(id: .integer(index), group: try #require(group), groupIndex: index, current: current)
        }
    }

    private func statements(_ documents: [Restoring]) throws -> RestoringStatements {
        try RestoringStatements(documents, under: lease, grouped: true, for: 1)
    }

    @Test func documentsFromWhichTheSameFieldIsRemovedShareAStatement() throws {
        let statements = try statements(try documents { .string("value \($0)") })
        #expect(statements.all.count == 1)
        #expect(statements.all[0].update == ["$unset": ["n": ""]])
        #expect(statements.all[0].filter["_id"]?.document?["$in"]?.document?.values.count == 100)
        #expect(statements.onlyDocument(of: 0) == nil)
    }

    @Test func aStatementComparesAtMostAThousandDocuments() throws {
        #expect(try statements(try documents(2_500) { .integer($0) }).all.count == 3)
    }

    @Test func documentsWithOtherValuesBeforeDoNotShareOne() throws {
        let all = try (0..<3).flatMap { before in
            try documents(2, before: ["n": .integer(before)], added: []) { .string("\(before) \($0)") }
        }
        // The three calls of `documents` give the same `_id`s and group indexes, so each document gets new ones here.
        let distinct = all.enumerated().map { index, document in
            Restoring(id: .integer(index), group: document.group, groupIndex: index, current: document.current)
        }
        #expect(try statements(distinct).all.count == 3)
    }

    @Test(arguments: [.double(1.5), ["x": 1], [1, 2]] as [BSONValue])
    func valuesThatAListDoesNotCompareExactlyAreComparedOneByOne(_ value: BSONValue) throws {
        #expect(try statements(try documents(3) { _ in value }).all.count == 3)
    }

    @Test func afterARefusalEachDocumentHasItsOwnStatement() throws {
        let all = try documents(3) { .integer($0) }
        let statements = try RestoringStatements(all, under: lease, grouped: false, for: 2)
        #expect(statements.all.count == 3)
        #expect((0..<3).map { statements.onlyDocument(of: $0) } == [0, 1, 2])
    }
}
