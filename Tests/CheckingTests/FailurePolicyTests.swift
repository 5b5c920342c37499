import BSON
import Testing

@testable import Checking

/// Tests which findings make a check end with exit code 1.
@Suite struct FailurePolicyTests {
    private func report(
        certain: Int = 0, possible: Int = 0, newlyFailing: Int = 0, newlyPossible: Int = 0, ledger: Int = 0,
        removed: [RemovedCollection] = []
    ) -> CheckReport {
        var counts = DocumentCounts()
        (counts.read, counts.certain, counts.possible) = (100, certain, possible)
        (counts.unexcepted.certain, counts.unexcepted.possible) = (certain, possible)
        (counts.unexcepted.newlyFailing, counts.unexcepted.newlyPossible) = (newlyFailing, newlyPossible)
        counts.changes = VerdictChanges()
        let namespace = Namespace(database: "app", collection: "Person")
        return CheckReport(
            source: "x", active: CheckReport.ActiveSchema(name: "old", removed: removed),
            collections: [.init(namespace: namespace, counts: counts)],
            ledger: LedgerCount(entries: ledger), limit: 10, duration: .zero)
    }

    @Test func anyCountsAllThatDoNotSync() {
        let any = FailurePolicy()
        #expect(any.fails(report(certain: 1)))
        #expect(!any.fails(report(possible: 1)))
        #expect(FailurePolicy(includesPossible: true).fails(report(possible: 1)))
    }

    @Test func newCountsWhatFitsToday() {
        let new = FailurePolicy(documents: .new)
        #expect(!new.fails(report(certain: 3, possible: 3)))
        #expect(new.fails(report(certain: 3, newlyFailing: 1)))
        #expect(!new.fails(report(possible: 3, newlyPossible: 1)))
        #expect(FailurePolicy(documents: .new, includesPossible: true).fails(report(possible: 3, newlyPossible: 1)))
    }

    @Test func aFullLedgerAndARemovedCollectionFailInAnyCase() {
        let new = FailurePolicy(documents: .new)
        let namespace = Namespace(database: "app", collection: "Gone")
        #expect(new.fails(report(ledger: 10)))
        #expect(new.fails(report(removed: [.init(namespace: namespace, documentCount: 4)])))
        #expect(new.fails(report(removed: [.init(namespace: namespace, documentCount: nil)])))
        #expect(!new.fails(report(removed: [.init(namespace: namespace, documentCount: 0)])))
    }
}
