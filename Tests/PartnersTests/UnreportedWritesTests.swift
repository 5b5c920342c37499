import BSON
import Following
import Mongo
import Testing

@testable import Partners

/// The mirror's own writes until the change streams report them, and the clients' changes that they overwrote.
@Suite struct UnreportedWritesTests {
    private let key = IDKey(1)

    private func time(_ seconds: UInt64) -> ClusterTime { ClusterTime(rawValue: seconds << 32) }
    private func change(at seconds: UInt64) -> ChangeTime { ChangeTime(cluster: time(seconds)) }

    /// The mirror read the document at 10 and wrote it before 20.
    private func written(before: BSONDocument? = ["_id": 1], after: BSONDocument? = nil) -> UnreportedWrites {
        var writes = UnreportedWrites()
        let change = PairWriter.Change(key: key, id: 1, before: before, after: after)
        writes.add(UnreportedWrites.Write(side: .target, change: change, read: time(10), end: time(20)))
        return writes
    }

    @Test func aChangeBetweenTheReadAndTheWriteIsOverwritten() {
        var writes = written()
        writes.noteChange(of: key, on: .target, at: change(at: 12))
        #expect(writes.noteWrite(of: key, on: .target) == change(at: 12))
        #expect(writes.isEmpty)
    }

    @Test func aChangeThatTheReadContainsIsNot() {
        var writes = written()
        writes.noteChange(of: key, on: .target, at: change(at: 10))
        #expect(writes.noteWrite(of: key, on: .target) == nil)
    }

    @Test func aChangeOfTheOtherSideOrAfterTheWriteIsNot() {
        var writes = written()
        writes.noteChange(of: key, on: .source, at: change(at: 12))
        #expect(writes.noteWrite(of: key, on: .target) == nil)
        writes.noteChange(of: key, on: .target, at: change(at: 13))
        #expect(writes.noteWrite(of: key, on: .target) == nil)
    }

    /// The server reports no change of a document that a write leaves as it is.
    @Test func aWriteThatChangesNothingIsNotWaitedFor() {
        #expect(written(before: ["_id": 1], after: ["_id": 1]).isEmpty)
    }

    @Test func aWriteIsForgottenOnceItsStreamIsPastIt() {
        var writes = written()
        writes.forget(upTo: time(20), on: .source)
        writes.forget(upTo: time(19), on: .target)
        #expect(!writes.isEmpty)
        writes.forget(upTo: time(20), on: .target)
        #expect(writes.isEmpty)
    }
}
