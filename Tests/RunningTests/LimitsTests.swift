import Checking
import Concurrency
import Testing

@testable import JobState
@testable import Jobs
@testable import Running

@Suite struct LimitsTests {
    @Test(
        arguments: [
            (100_000, .percent(10), 90_000), (100_000, .documents(10_000), 90_000), (100_000, .percent(0), 100_000),
            (100_000, .documents(0), 100_000), (101, .percent(10), 90), (9, .percent(10), 8), (10, .percent(10), 9),
            (1, .percent(1), 0), (1, .percent(0), 1), (3, .percent(100), 0), (5, .documents(9), -4),
        ] as [(Int, Job.Reserve, Int)])
    func theReserveIsRoundedUpAndLeftFree(_ unsynced: Int, _ reserve: Job.Reserve, _ ceiling: Int) {
        var limits = Job.Limits()
        limits.unsynced = unsynced
        limits.reserve = reserve
        #expect(limits.ceiling == ceiling)
    }

    @Test(
        arguments: [
            (nil, 0, 90_000, 89_999), (0, 0, 90_000, 89_999), (89_998, 0, 90_000, 1), (89_999, 0, 90_000, 0),
            (80_000, 9_999, 90_000, 0), (80_000, 9_998, 90_000, 1), (95_000, 0, 90_000, 0), (nil, 5, 1, 0),
            (nil, 0, 1, 0),
        ] as [(Int?, Int, Int, Int)])
    func theSumStaysUnderTheCeiling(_ ledger: Int?, _ pending: Int, _ ceiling: Int, _ documents: Int) {
        #expect(
            Headroom(ledger: ledger.map { LedgerCount(entries: $0) }, pending: pending, ceiling: ceiling).documents
                == documents)
    }

    @Test func aThrottleReasonShowsMetricValueAndLimit() {
        #expect(
            "\(Headroom(ledger: LedgerCount(entries: 5), pending: 2, ceiling: 90))"
                == "unsynced documents: 5 in the ledger and 2 pending; the job stops at 90")
        #expect(
            "\(Headroom(ledger: nil, pending: 0, ceiling: 90))"
                == "unsynced documents: no ledger and 0 pending; the job stops at 90")
    }

    @Test(arguments: [(1, 250), (4, 1_000), (30, 7_500), (40, 10_000), (600, 10_000)])
    func aWriteHasAQuarterOfTheLeaseAndTenSecondsAtMost(_ seconds: Int, _ milliseconds: Int64) {
        #expect(LeaseTerms(duration: .seconds(seconds)).writeLimit.milliseconds == milliseconds)
    }
}
