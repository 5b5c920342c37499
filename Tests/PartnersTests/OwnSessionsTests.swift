import BSON
import Following
import Testing

@testable import Partners

/// Tests the list of the server sessions by which a mirror recognizes its own writes.
@Suite struct OwnSessionsTests {
    private func session(_ number: Int) -> BSONDocument { ["id": .integer(number)] }
    private func time(_ seconds: UInt64) -> ClusterTime { ClusterTime(rawValue: seconds << 32) }

    @Test func theSessionsOfEarlierRunsStayKnown() {
        var sessions = OwnSessions(nil)
        sessions.begin(session(1), at: time(10))
        sessions.begin(session(2), at: time(20))
        #expect(sessions.ids == [1, 2])
        #expect(OwnSessions(sessions.value).ids == [1, 2])
        #expect(OwnSessions(sessions.value).sessions == [session(1), session(2)])
    }

    /// A runner's session ends when the next runner takes the lease, because no transaction of the session commits
    /// after that.
    ///
    /// The session is removed from the list once all change streams have been read past its end.
    @Test func aSessionIsForgottenOnceNoStreamReportsItsTime() {
        var sessions = OwnSessions(nil)
        sessions.begin(session(1), at: time(10))
        sessions.begin(session(2), at: time(20))
        sessions.forget(before: time(20))
        #expect(sessions.ids == [1, 2])
        sessions.forget(before: time(21))
        #expect(sessions.ids == [2])
        // The newest session is never removed, because its runner may still write.
        sessions.forget(before: time(1_000))
        #expect(sessions.ids == [2])
    }

    @Test(arguments: [nil, "text", .null, ["x": 1], [["lsid": 5]]] as [BSONValue?])
    func aDamagedRecordHoldsNoSession(_ value: BSONValue?) { #expect(OwnSessions(value).ids.isEmpty) }
}
