import Testing

@testable import Backfill
@testable import JobReports
@testable import JobState
@testable import Jobs

/// Tests the numbers that a dry run predicts for the real run, from what the dry run has measured.
@Suite struct RunEstimateTests {
    private func estimate(_ change: (inout RunEstimate.Measured) -> Void = { _ in }) -> RunEstimate {
        var measured = RunEstimate.Measured(
            seconds: 10, changed: 100_000, touchedBytes: 2_000_000, idBytes: 1_200_000, journalBytes: 0, nice: 0,
            oplogCapacity: nil)
        change(&measured)
        return RunEstimate(measured)
    }

    @Test func writingComesOnTopOfReading() {
        #expect(estimate().seconds == 14)
        #expect(estimate { $0.changed = 0 }.seconds == 10)
    }

    @Test func restIsInProportionToTheWork() {
        #expect(estimate { $0.nice = 0.5 }.seconds == 21)
    }

    @Test func theOplogTakesEachChangeAndTheJournal() {
        #expect(estimate().oplogBytes == 100_000 * 150 + 2_000_000 + 1_200_000)
        #expect(estimate { $0.journalBytes = 5_000_000 }.oplogBytes == 23_200_000)
        #expect(estimate { $0.journalBytes = 5_000_000 }.journalBytes == 5_000_000)
    }

    @Test func thePartOfTheOplogIsReportedWhereItsSizeIsKnown() {
        #expect(estimate().oplogShare == nil)
        #expect(estimate { $0.oplogCapacity = 0 }.oplogShare == nil)
        #expect(estimate { $0.oplogCapacity = 182_000_000 }.oplogShare == 0.1)
    }
}
