import Concurrency
import Synchronization
import Testing

@Suite struct RetryTests {
    private let start = ContinuousClock.now

    @Test func thePausesDoubleUpToFiveSeconds() {
        var retries = Retries(limit: .seconds(60))
        let pauses = (0..<7).map { _ in retries.pause(afterFailureAt: start)?.milliseconds }
        #expect(pauses == [200, 400, 800, 1_600, 3_200, 5_000, 5_000])
        #expect(retries.count == 7)
    }

    @Test func theLastAttemptIsAtTheLimit() {
        var retries = Retries(limit: .seconds(1))
        #expect(retries.pause(afterFailureAt: start) == .milliseconds(200))
        #expect(retries.pause(afterFailureAt: start + .milliseconds(900)) == .milliseconds(100))
        #expect(retries.pause(afterFailureAt: start + .seconds(1)) == nil)
    }

    @Test func aSuccessBeginsARowOfItsOwn() {
        var retries = Retries(limit: .seconds(1))
        _ = retries.pause(afterFailureAt: start)
        retries.succeeded()
        #expect(retries.pause(afterFailureAt: start + .seconds(5)) == .milliseconds(200))
    }

    @Test func withoutTimeNothingIsTriedAgain() {
        var retries = Retries(limit: .zero)
        #expect(retries.pause(afterFailureAt: start) == nil)
    }

    @Test func temporaryErrorsAreRetriedAndCounted() throws {
        let reported = Mutex<[Int]>([])
        let policy = RetryPolicy(limit: .seconds(60)) {
            $0 is Passing
        } onRetry: { _, attempt in
            reported.withLock { $0.append(attempt) }
        }
        var attempts = 0
        let result = try policy.run {
            attempts += 1
            if attempts < 3 { throw Passing() }
            return attempts
        }
        #expect(result == 3)
        #expect(reported.withLock { $0 } == [1, 2])
        #expect(policy.lost.total >= .milliseconds(600))
    }

    @Test func permanentErrorsAreThrownAtOnce() {
        let policy = RetryPolicy(limit: .seconds(60)) { $0 is Passing }
        var attempts = 0
        #expect(throws: Lasting.self) {
            try policy.run {
                attempts += 1
                throw Lasting()
            }
        }
        #expect(attempts == 1)
    }

    @Test func aStopEndsTheRetrying() {
        let stop = StopSignal()
        let policy = RetryPolicy(limit: .seconds(60), stop: stop) {
            $0 is Passing
        } whenStopped: { _ in
            Lasting()
        }
        #expect(throws: Lasting.self) {
            try policy.run {
                stop.raise()
                throw Passing()
            }
        }
    }
}

private struct Passing: Error {}
private struct Lasting: Error {}
