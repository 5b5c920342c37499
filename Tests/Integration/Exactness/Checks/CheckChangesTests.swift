import BSON
import Checking
import Mongo
import Scanning
import TestSupport
import Testing

/// Tests that a check judges a document again if it changes during the scan.
///
/// The counts of the check are therefore those of one moment.
@Suite struct CheckChangesTests {
    private static let changes: [ChangeKind] = ChangeKind.allCases

    /// The `_id`s at which the ranges of changed documents begin.
    ///
    /// At the time of the change, some of these documents are already read, some are in the batch that the server has
    /// sent, and some are not sent yet.
    private static let places = [100, 5_000, 15_000, 24_000]

    @Test(arguments: [(1, 1 << 20), (1, 1_000), (3, 1 << 20), (4, 500)])
    func everyChangeIsSeen(_ threads: Int, _ seenInMemory: Int) async throws {
        try await Mongod.shared.withDatabase { database in
            let people = try await ChangingPeople(database)
            var options = try people.options(threads: threads)
            options.seenInMemory = seenInMemory
            let result = try await people.scan(options) { collection in
                for (number, change) in Self.changes.enumerated() {
                    // Each change is made to 49 documents in a row, seven of each kind of person.
                    for place in Self.places {
                        for offset in 0..<49 { try change.apply(to: place + number * 49 + offset, collection) }
                    }
                }
            }
            let after = try await people.scan(try people.options())
            #expect(TallyDigest(result.tally) == TallyDigest(after.tally))
            try await result.expectOneMoment()
            #expect(result.changedCount > 1_000)
            #expect(after.changedCount == 0)
        }
    }

    @Test func samplesAreOfDocumentsThatStillFail() async throws {
        try await Mongod.shared.withDatabase { database in
            let people = try await ChangingPeople(database)
            let result = try await people.scan(try people.options()) { collection in
                try collection.update([
                    UpdateStatement(
                        ["_id": ["$lt": 900]], ["$set": ["name": "Ada"], "$unset": ["age": 1, "tags": 1]], isMulti: true
                    )
                ])
            }
            #expect(result.changedCount > 0)
            for group in result.tally.violationGroups {
                #expect(group.sampleIDs.allSatisfy { ($0.integer ?? 0) >= 900 })
            }
        }
    }

    /// The scan reports each failing document, and retracts the report if the document changes during the scan.
    ///
    /// At the end, the reports that were not retracted equal the reports of a scan that begins after the changes.
    @Test(arguments: [1, 3]) func reportsOfSingleDocumentsAreTrueAtTheEnd(_ threads: Int) async throws {
        try await Mongod.shared.withDatabase { database in
            let people = try await ChangingPeople(database)
            let reported = CollectedFailures()
            let result = try await people.scan(reported.listening(try people.options(threads: threads))) { collection in
                for (number, change) in Self.changes.enumerated() {
                    for place in Self.places {
                        for offset in 0..<14 { try change.apply(to: place + number * 49 + offset, collection) }
                    }
                }
            }
            let after = CollectedFailures()
            _ = try await people.scan(after.listening(try people.options()))
            try await result.expectOneMoment()
            #expect(reported.failures == after.failures)
            #expect(reported.retractionCount >= result.changedCount)
            #expect(after.retractionCount == 0)
        }
    }

    @Test(.server(from: 5, for: "reads of one moment")) func aScanAsOfOneTimeIsExactDuringWrites() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            let people = try await ChangingPeople(database)
            let history = ChangeHistory(people)
            let result = try await history.scanWhileWriting(try people.options(threads: 3))
            let time = try #require(result.clusterTime)
            let (expected, passed, later) = try history.tally(at: time, try people.options())
            #expect(TallyDigest(result.tally) == TallyDigest(expected))
            #expect(passed > 0)
            #expect(later > 0, "writes went on after the moment")
        }
    }

    @Test func aLostStreamIsResumed() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            let people = try await ChangingPeople(database)
            for code in [43, 91] {
                var point = FailPoint.error(code, "getMore", appName: database.appName, mode: .times(4))
                point.errorLabels = code == 91 ? ["ResumableChangeStreamError"] : []
                let result = try await mongod.failing(point) {
                    try await people.scan(try people.options()) { collection in
                        for id in 0..<50 { try ChangeKind.delete.apply(to: id + code, collection) }
                    }
                }
                let after = try await people.scan(try people.options())
                #expect(TallyDigest(result.tally) == TallyDigest(after.tally))
                try await result.expectOneMoment()
            }
        }
    }

    @Test func withoutSnapshotsTheMomentIsNotStated() async throws {
        try await Mongod.shared.withDatabase { database in
            // MongoDB 6.0 has no snapshots of a capped collection. Even so, a check during which a document is inserted
            // has the same counts as a check after the insert.
            try await database.run(["create": "person", "capped": true, "size": 4_000_000])
            let people = try await ChangingPeople(database, count: 5_000)
            let result = try await people.scan(try people.options()) { collection in
                _ = try collection.insert([ChangingPeople.person(90_000, kind: 3)])
            }
            let after = try await people.scan(try people.options())
            #expect(TallyDigest(result.tally) == TallyDigest(after.tally))
            if result.clusterTime == nil {
                #expect(result.missing.map(\.guarantee) == [.oneMoment])
                #expect(result.missing.first?.reason.contains("cannot read") == true)
            }
        }
    }
}
