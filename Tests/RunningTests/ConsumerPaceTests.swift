import JobState
import Jobs
import Testing

@testable import Running

/// A run stays at the rate at which a consumer takes its changes.
@Suite struct ConsumerPaceTests {
    private static let start = ContinuousClock.now

    /// Returns the seconds for which a run waits that writes a number of documents in chunks, without any other work.
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

    /// A resumed run begins with the count of the earlier ones, which the consumer had time to take.
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
                == "consumer: 3000 documents not taken yet, limit 2000 documents and 5000000 bytes a second")
        #expect(pace.waitReason(rate, now: Self.start + .seconds(2)) == nil)
    }
}
