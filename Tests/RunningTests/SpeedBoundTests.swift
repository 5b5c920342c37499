import Testing

@testable import JobState
@testable import Jobs
@testable import Running

/// Tests which limit a report names as the one that decides how fast a run is.
@Suite struct SpeedBoundTests {
    private func bound(
        _ waits: [(ThrottleReason, String, Double)] = [], rested: Double = 0, seconds: Double = 60, nice: Double = 0
    ) -> String? {
        var limits = Job.Limits()
        limits.nice = nice
        let waits = waits.map { reason, metric, seconds in
            ThrottleWait(
                waitReason: WaitReason(reason, metric: metric, value: "12 s", limit: "10 s"), seconds: seconds)
        }
        return SpeedBound(waits: waits, rested: rested, seconds: seconds, limits: limits)?.description
    }

    @Test func theLongestWaitIsNamedWithItsLimit() {
        let waits: [(ThrottleReason, String, Double)] = [
            (.tickets, "execution tickets in use", 16), (.secondaryLag, "lag of db3:27017", 40),
        ]
        #expect(bound(waits) == "lag of db3:27017 (waited 40 of 60 s, lag=10s)")
    }

    @Test func aWaitWithoutALimitOfTheJobIsNamedByItsCause() {
        #expect(bound([(.operatorPause, "operator", 30)]) == "a pause by an operator (waited 30 of 60 s)")
    }

    @Test func shortWaitsDecideNothing() {
        #expect(
            bound([(.majorityLag, "majority lag", 10)])
                == "the server's speed; no limit was reached for long")
    }

    @Test func restsCountAsTheLimitNice() {
        #expect(bound([(.majorityLag, "majority lag", 10)], rested: 20, nice: 0.5) == "nice=0.5 (rested 20 of 60 s)")
    }

    @Test func aShortRunSaysNothing() {
        #expect(bound([(.majorityLag, "majority lag", 4)], seconds: 4.9) == nil)
    }
}
