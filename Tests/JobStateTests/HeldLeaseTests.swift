import Concurrency
import Mongo
import Testing

@testable import JobState

/// Tests that a runner measures the remaining time of its lease only with its own clock.
@Suite struct HeldLeaseTests {
    private let now = ContinuousClock.now

    private func lease(_ seconds: Int, token: Int = 1) -> Lease {
        Lease(token: token, end: 0, terms: LeaseTerms(duration: .seconds(seconds)))
    }

    @Test func itIsRenewedAtHalfItsTime() {
        #expect(!HeldLease(lease: lease(60), askedAt: now - .seconds(20)).isHalfOver)
        #expect(HeldLease(lease: lease(60), askedAt: now - .seconds(31)).isHalfOver)
    }

    /// A write can take a quarter of the lease's duration, but at most ten seconds.
    ///
    /// The write must not begin if the lease has less time left than the write can take.
    @Test(arguments: [(60, 49, true), (60, 51, false), (8, 5, true), (8, 7, false)])
    func aWriteMayBeginWhileItEndsWithinTheLease(_ seconds: Int, _ passed: Int, _ isCertain: Bool) {
        #expect(HeldLease(lease: lease(seconds), askedAt: now - .seconds(passed)).isCertain == isCertain)
    }

    /// A write carries a fence: a condition that holds only until shortly before the end of the lease.
    ///
    /// If the lease is renewed between two attempts at a write, the second attempt may still carry the old fence. The
    /// renewal therefore does not extend the time for that write.
    @Test func aRenewalBetweenTwoAttemptsMovesNoFence() {
        var held = HeldLease(lease: lease(60), askedAt: now - .seconds(55))
        held.extend(lease(60, token: 1), askedAt: now)
        #expect(!held.isHalfOver && !held.isCertain)
        held.refence()
        #expect(held.isCertain)
        held = HeldLease(lease: lease(60), askedAt: now - .seconds(55))
        held.renew(lease(60), askedAt: now)
        #expect(held.isCertain)
    }

    @Test func aLostReplyKeepsTheLeaseUntilTheServerCannotWriteAnyMore() throws {
        var held = HeldLease(lease: lease(60), askedAt: now)
        held.doubt(MongoError(.server, .duplicateKey, message: "refused"))
        #expect(held.doubtEnd == nil)
        held.doubt(MongoError(.stream, .hostUnreachable, message: "gone", labels: ["RetryableWriteError"]))
        let end = try #require(held.doubtEnd)
        #expect(end > now + .seconds(60))
    }
}
