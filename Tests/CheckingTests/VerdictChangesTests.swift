import BSON
import ServerSchema
import Testing

@testable import Checking

/// Tests how a check counts the documents whose verdict differs between the active schema and the new one.
@Suite struct VerdictChangesTests {
    private let old = CompiledSchema(["name": .of(.string), "n": .of(.double)])
    private let new = CompiledSchema(["name": .of(.string), "n": .of(.int)], required: ["name"])

    private func tally(_ documents: [BSONDocument], active: ActiveSchema) throws -> Tally {
        var tally = Tally(new, active: active)
        for document in documents { try tally.add(document.view) }
        return tally
    }

    private var documents: [BSONDocument] {
        [
            ["_id": 1, "name": "x"],  // fits both
            ["_id": 2],  // newly failing
            ["_id": 3, "name": 5],  // already failing
            ["_id": 4, "name": "x", "n": "x"],  // already failing, for another reason too
            ["_id": 5, "name": "x", "n": 1],  // was possible, is fixed
            ["_id": 6, "name": "x", "n": 3.0],  // newly possible
            ["_id": 7, "name": "x", "n": .long(3)],  // possible under both
            ["_id": 8, "n": 3],  // was possible, fails now
        ]
    }

    @Test func eachDocumentIsCountedInOneColumn() throws {
        let changes = try #require(try tally(documents, active: .covered(old)).counts.changes)
        #expect(changes.newlyFailing == 2)
        #expect(changes.alreadyFailing == 2)
        #expect(changes.healed == 0)
        #expect(changes.newlyPossible == 1)
        #expect(changes.alreadyPossible == 1)
        #expect(changes.nowOnlyPossible == 0)
        #expect(changes.possiblyHealed == 1)
    }

    @Test func theUndoMakesDocumentsSyncableAgain() throws {
        var tally = Tally(old, active: .covered(new))
        for document in documents { try tally.add(document.view) }
        let changes = try #require(tally.counts.changes)
        #expect(changes.newlyFailing == 0)
        #expect(changes.alreadyFailing == 2)
        #expect(changes.healed == 1)
        #expect(changes.alreadyPossible == 2)
        // Document 8 is certain to fail under the active schema, but only might fail under the schema that the check
        // judges by.
        #expect(changes.nowOnlyPossible == 1)
    }

    @Test func uncoveredDocumentsOfTheActiveSchemaNewlyFail() throws {
        let changes = try #require(try tally(documents, active: .notCovered).counts.changes)
        #expect(changes.newlyFailing == 4)
        #expect(changes.newlyPossible == 2)
        #expect(changes.alreadyFailing + changes.healed == 0)
    }

    @Test func withoutAnActiveSchemaNothingIsCompared() throws {
        let tally = try tally(documents, active: .notAsked)
        #expect(tally.counts.changes == nil)
        #expect(tally.violationGroups.allSatisfy { $0.newCount == nil })
    }

    @Test func groupsSayHowManyOfTheirDocumentsFitToday() throws {
        let groups = try tally(documents, active: .covered(old)).violationGroups
        let missing = try #require(groups.first { $0.violation.rule == .requiredMissing })
        #expect(missing.count == 2)
        #expect(missing.newCount == 2)
        let mismatch = try #require(groups.first { $0.violation.rule == .typeMismatch })
        #expect(mismatch.newCount == 0)
    }

    @Test func mergingAddsTheColumns() throws {
        var merged = try tally(Array(documents.prefix(3)), active: .covered(old))
        merged.merge(try tally(Array(documents.dropFirst(3)), active: .covered(old)))
        let alone = try tally(documents, active: .covered(old))
        #expect(merged.counts == alone.counts)
        #expect(merged.violationGroups == alone.violationGroups)
    }

    /// A resync adds every failing document to the ledger.
    ///
    /// The projected number of ledger entries therefore includes the documents that already fail under the active
    /// schema.
    @Test func theProjectionIsTheUnionOfLedgerAndFailing() throws {
        var ledger = LedgerIndex()
        ledger.insert(3, in: new.namespace)
        ledger.insert(90, in: new.namespace)
        var tally = Tally(new, active: .covered(old))
        for document in documents { try tally.add(document.view, ledger: ledger) }
        let report = CheckReport(
            source: "x", active: CheckReport.ActiveSchema(name: "old"), collections: [CheckReport.Collection(tally)],
            ledger: ledger.total,
            limit: 9, duration: .zero)
        #expect(report.verdict.newlyFailing == 2)
        #expect(report.verdict.projected == 2 + 3)
        #expect(report.verdict.pessimistic == 2 + 3 + 2)
    }
}
