import BSON
import Checking
import Testing

@Suite struct DeployVerdictTests {
    @Test(arguments: [
        (0, 0, 0, DeployVerdict.Band.safe), (99_999, 0, 0, .safe), (100_000, 0, 0, .syncHasStopped),
        (0, 99_999, 0, .documentsWillStop), (0, 100_000, 0, .syncWillStop), (0, 0, 99_999, .safe),
        (0, 0, 100_000, .syncMightStop), (50_000, 49_999, 0, .documentsWillStop), (50_000, 49_999, 1, .syncMightStop),
        (50_000, 50_000, 0, .syncWillStop),
    ])
    func bands(_ ledger: Int, _ certain: Int, _ possible: Int, _ band: DeployVerdict.Band) {
        let verdict = DeployVerdict(ledger: LedgerCount(entries: ledger), newCertain: certain, newPossible: possible)
        #expect(verdict.band == band)
        #expect(verdict.projected == ledger + certain)
        #expect(verdict.pessimistic == ledger + certain + possible)
        #expect(verdict.headroom == 99_999 - ledger)
        // Sync will stop if more documents are certain to fail than the headroom allows. The verdict must have the band
        // "sync will stop", or a worse one, in exactly these cases.
        #expect((certain > verdict.headroom) == (band >= .syncWillStop))
    }

    @Test func noLedgerCountsNothing() {
        let verdict = DeployVerdict(ledger: nil, newCertain: 5, newPossible: 0, limit: 5)
        #expect(verdict.headroom == 4)
        #expect(verdict.band == .syncWillStop)
    }

    @Test func bandsAreOrderedBySeverity() {
        #expect(
            DeployVerdict.Band.allCases.sorted() == [
                .safe, .unproven, .documentsWillStop, .syncMightStop, .syncWillStop, .syncHasStopped,
            ])
    }
}

@Suite struct LedgerIndexTests {
    private let people = Namespace(database: "app", collection: "Person")

    @Test func idsAreTheSameAcrossTheirForms() throws {
        var ledger = LedgerIndex()
        let id = try #require(ObjectID("507f1f77bcf86cd799439011"))
        let areNew = [
            ledger.insert(.objectID(id), in: people), ledger.insert("507F1F77BCF86CD799439011", in: people),
            ledger.insert(.long(7), in: people),
        ]
        #expect(areNew == [true, false, true])
        #expect(ledger.contains(7, in: people))
        #expect(ledger.contains(7.0, in: people))
        #expect(ledger.contains(.decimal(coefficient: 70, exponent: -1), in: people))
        #expect(!ledger.contains(7.5, in: people))
        #expect(!ledger.contains("7", in: people))
        #expect(!ledger.contains(7, in: Namespace(database: "app", collection: "Pet")))
        #expect(ledger.count == 2)
        #expect(ledger.count(in: people) == 2)
    }

    @Test func entriesAreReadAsTheLedgerHasThem() throws {
        var ledger = LedgerIndex()
        let entry: BSONDocument = [
            "_id": 1, "appId": "x", "documentId": "507f1f77bcf86cd799439011",
            "ns": ["db": "app", "coll": "Person"], "reason": "invalid schema",
        ]
        let isRead = try ledger.insert(entry: entry.view)
        #expect(isRead)
        let id = try #require(ObjectID("507f1f77bcf86cd799439011"))
        #expect(ledger.contains(.objectID(id), in: people))
        let other: BSONDocument = ["_id": 2]
        let isOtherRead = try ledger.insert(entry: other.view)
        #expect(!isOtherRead)
    }
}
