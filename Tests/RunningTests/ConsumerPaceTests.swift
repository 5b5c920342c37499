import JobState
import Jobs
import Testing

@testable import Running

/// Tests that a run writes no faster than the rate at which a consumer takes the run's changes.
@Suite struct ConsumerPaceTests {
    private static let start = ContinuousClock.now

    /// Returns how many seconds a run waits in total if it writes this many documents, in chunks of this size.
    private func seconds(for documents: Int, chunk: Int, size: Int?, _ rate: ConsumerRate) -> Double {
        var pace = ConsumerPace()
        var now = Self.start
        pace.note(changed: 0, size: size)
        for done in stride(from: chunk, through: documents, by: chunk) {
            while pace.waitReason(rate, now: now) != nil { now += .milliseconds(200) }
            pace.note(changed: done, size: size)
        }
        return Self.start.duration(to: now) / .seconds(1)
    }

    @Test func documentsAreCounted() {
        let time = seconds(for: 20_000, chunk: 1_000, size: nil, ConsumerRate(documents: 2_000))
        #expect((9...10).contains(time), "\(time)")
    }

    @Test func bytesAreCounted() {
        let time = seconds(for: 10_000, chunk: 100, size: 5_000, ConsumerRate(documents: 2_000, bytes: 5_000_000))
        #expect((9...10.5).contains(time), "\(time)")
    }

    @Test func withoutARateThereIsNoWait() {
        #expect(seconds(for: 1_000_000, chunk: 1_000, size: 1_000, ConsumerRate()) == 0)
    }

    /// A resumed run does not wait for the documents of earlier runs, because the consumer had time to take them.
    @Test func documentsOfEarlierRunsCountNothing() {
        var pace = ConsumerPace()
        pace.note(changed: 1_000_000, size: nil)
        #expect(pace.waitReason(ConsumerRate(documents: 1), now: Self.start) == nil)
    }

    @Test func theReasonNamesTheAmountAndTheRate() {
        var pace = ConsumerPace()
        pace.note(changed: 0, size: 10)
        pace.note(changed: 3_000, size: 10)
        let rate = ConsumerRate(documents: 2_000, bytes: 5_000_000)
        let reason = pace.waitReason(rate, now: Self.start)
        #expect(
            reason?.description
                == "consumer: 3,000 documents not taken yet, limit 2,000 documents and 5,000,000 bytes a second")
        #expect(pace.waitReason(rate, now: Self.start + .seconds(2)) == nil)
    }
}
