import BSON
import Testing

@testable import JobState
@testable import Jobs
@testable import Running

/// Tests at which value each throttle rule makes a run wait, and at which value the run continues.
@Suite struct ThrottleRulesTests {
    private let start = ContinuousClock.now

    /// Returns, for each reading of the server metrics, the reasons for which a run waits; the readings are a second
    /// apart.
    private func run(_ readings: [ServerMetrics], _ limits: ThrottleLimits = ThrottleLimits()) -> [[WaitReason]] {
        var rules = ThrottleRules()
        return readings.enumerated().map { index, values in
            let at = start + .seconds(index)
            return rules.waitReasons((values, at), failure: nil, limits: limits, now: at)
        }
    }

    private func waitReasons<T>(
        _ key: WritableKeyPath<ServerMetrics, T?>, _ values: [T], _ limits: ThrottleLimits = ThrottleLimits()
    )
        -> [Bool]
    {
        let readings = values.map { value in
            var reading = ServerMetrics()
            reading[keyPath: key] = value
            return reading
        }
        return run(readings, limits).map { !$0.isEmpty }
    }

    @Test func majorityLagStopsAtTheLimitAndContinuesAtFourFifths() {
        #expect(waitReasons(\.majorityLag, [9, 10, 9, 8, 7, 9, 11]) == [false, true, true, true, false, false, true])
    }

    @Test func theSlowestSecondaryCountsAndIsNamed() {
        var reading = ServerMetrics()
        reading.secondaryLag = .init(host: "db2:27017", seconds: 12)
        #expect(run([reading])[0].map(\.description) == ["lag of db2:27017: 12 s, limit 10 s"])
    }

    @Test func flowControlHoldsWhileTheServerIsLagged() {
        #expect(waitReasons(\.isFlowControlled, [false, true, false]) == [false, true, false])
    }

    @Test func flowControlHoldsWhileWritersWaitForIt() {
        // The server's totals of the time for which writers waited for flow control, in microseconds. They grow by 0.5,
        // 1, 0.9 and 0.5 seconds per second; the last total is from another server.
        let sums = [5_000_000, 5_500_000, 6_500_000, 7_400_000, 7_900_000, 12]
        #expect(waitReasons(\.flowControlWait, sums) == [false, false, true, true, false, false])
    }

    @Test func ticketsHoldWhenTooManyAreInUse() {
        #expect(waitReasons(\.ticketsInUse, [0.79, 0.8, 0.7, 0.65, 0.6]) == [false, true, true, true, false])
    }

    @Test func ticketsThatNoOperationWaitsForCauseNoWait() {
        // From MongoDB 7.0 on, the server itself adjusts the number of tickets, so a run waits only if operations wait
        // for a ticket.
        var reading = ServerMetrics()
        (reading.ticketsInUse, reading.ticketQueue) = (1, 0)
        #expect(run([reading])[0].isEmpty)
        reading.ticketQueue = 3
        #expect(run([reading])[0].map(\.description) == ["execution tickets in use: 100%, limit 80%"])
    }

    @Test func theDirtyCacheHolds() {
        #expect(waitReasons(\.cacheDirty, [0.14, 0.15, 0.13, 0.11]) == [false, true, true, false])
    }

    @Test func theFullCacheLetsGoAboveWhatTheServerKeepsFilled() {
        // WiredTiger keeps 80% of the cache filled, so the run must continue while more than 80% is filled.
        #expect(waitReasons(\.cacheUsed, [0.94, 0.95, 0.9, 0.85, 0.8]) == [false, true, true, false, false])
    }

    @Test func theOplogHoldsWhenItReachesBackTooLittle() {
        #expect(waitReasons(\.oplogWindow, [3_601, 3_600, 4_000, 4_501, 3_700]) == [false, true, true, false, false])
    }

    @Test func anOplogThatIsNotFullLosesNothing() {
        var reading = ServerMetrics()
        (reading.oplogWindow, reading.oplogFill) = (10, 0.5)
        #expect(run([reading])[0].isEmpty)
        reading.oplogFill = 0.95
        #expect(
            run([reading])[0].map(\.description) == [
                "oplog window: 10 s, limit at least 3600 s".replacing("3600 s", with: "60 min")
            ])
    }

    @Test func aJobThatWritesAlmostNothingDoesNotWaitForTheOplog() {
        var reading = ServerMetrics()
        (reading.oplogWindow, reading.oplogFill, reading.oplogSize) = (10, 1, 100_000)
        for (written, isHeld) in [(0, false), (999, false), (1_000, true), (nil, true)] {
            var rules = ThrottleRules()
            rules.written = written
            let waitReasons = rules.waitReasons((reading, start), failure: nil, limits: ThrottleLimits(), now: start)
            #expect(waitReasons.map(\.reason) == (isHeld ? [.oplog] : []))
        }
        // If the size of the oplog is unknown, only the oplog window decides.
        reading.oplogSize = nil
        #expect(run([reading])[0].map(\.reason) == [.oplog])
    }

    @Test func aPauseWindowHoldsByTheServersClock() throws {
        var limits = ThrottleLimits()
        limits.pause = [try PauseWindow("08:00-20:00 UTC")]
        let monday = 1_795_392_000
        #expect(waitReasons(\.serverTime, [monday + 7 * 3_600, monday + 9 * 3_600], limits) == [false, true])
        var reading = ServerMetrics()
        reading.serverTime = monday + 9 * 3_600
        #expect(run([reading], limits)[0].map(\.description) == ["time: Mon 09:00, limit outside 08:00-20:00 UTC"])
    }

    @Test func metricsThatAreNotReportedCauseNoWait() { #expect(run([ServerMetrics()]) == [[]]) }

    @Test func aThrottleRuleThatIsSwitchedOffCausesNoWait() {
        var limits = ThrottleLimits()
        (limits.lag, limits.flowControl, limits.oplog) = (nil, nil, nil)
        (limits.tickets, limits.cacheDirty, limits.cacheUsed) = (nil, nil, nil)
        var reading = ServerMetrics()
        (reading.majorityLag, reading.secondaryLag, reading.isFlowControlled) = (
            99, .init(host: "a", seconds: 99), true
        )
        (reading.ticketsInUse, reading.cacheDirty, reading.cacheUsed, reading.oplogWindow) = (1, 1, 1, 0)
        #expect(run([reading], limits) == [[]])
        #expect(run([reading])[0].count == 7)
    }

    @Test func anOldReadingMeansWait() {
        var rules = ThrottleRules()
        for (age, isHeld) in [(0, false), (15, false), (16, true)] {
            let waitReasons = rules.waitReasons(
                (ServerMetrics(), start), failure: nil, limits: ThrottleLimits(), now: start + .seconds(age))
            #expect(waitReasons.map(\.reason) == (isHeld ? [.reading] : []))
        }
        #expect(
            rules.waitReasons(
                (ServerMetrics(), start), failure: nil, limits: ThrottleLimits(), now: start + .seconds(16)
            )
            .map(\.description) == ["server status: 16 s old, limit at most 15 s old"])
    }

    @Test func aReadingThatFailedMeansWait() {
        var rules = ThrottleRules()
        let waitReasons = rules.waitReasons(
            (ServerMetrics(), start), failure: "no primary", limits: ThrottleLimits(), now: start)
        #expect(
            waitReasons.map(\.description) == ["server status: unreadable (no primary), limit at most 15 s old"])
        #expect(rules.waitReasons(nil, failure: nil, limits: ThrottleLimits(), now: start).map(\.reason) == [.reading])
    }

    @Test func aFailureKeepsTheThrottleReason() {
        var rules = ThrottleRules()
        var reading = ServerMetrics()
        reading.majorityLag = 10
        _ = rules.waitReasons((reading, start), failure: nil, limits: ThrottleLimits(), now: start)
        _ = rules.waitReasons((reading, start), failure: "no primary", limits: ThrottleLimits(), now: start)
        reading.majorityLag = 9
        #expect(
            rules.waitReasons((reading, start), failure: nil, limits: ThrottleLimits(), now: start).map(\.description)
                == ["majority lag: 9 s, limit 10 s, continues below 8 s"])
    }
}
