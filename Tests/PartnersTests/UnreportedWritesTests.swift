import BSON
import Following
import Mongo
import Testing

@testable import Partners

/// Tests ``UnreportedWrites``: the writes of a ``Mirror`` that the change streams have not reported yet, and the
/// changes by clients that these writes overwrote.
@Suite struct UnreportedWritesTests {
    private let key = IDKey(1)

    private func time(_ seconds: UInt64) -> ClusterTime { ClusterTime(rawValue: seconds << 32) }
    private func change(at seconds: UInt64) -> ChangeTime { ChangeTime(cluster: time(seconds)) }

    /// Returns the record after one write: the mirror read the document at time 10, and wrote it before time 20.
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

    /// If a change stream reports a client's change before the mirror writes the document, the write still overwrites
    /// that change.
    @Test func aChangeThatWasReportedBeforeTheWriteIsOverwritten() {
        var dirty = DirtyPairs()
        dirty.add(key, .target, at: change(at: 12), read: 1)
        let overwritten = dirty.lastChange(of: key, on: .target, after: time(10))
        var writes = UnreportedWrites()
        let write = PairWriter.Change(key: key, id: 1, before: ["_id": 1], after: nil)
        writes.add(
            UnreportedWrites.Write(
                side: .target, change: write, read: time(10), end: time(20), overwritten: overwritten))
        #expect(writes.noteWrite(of: key, on: .target) == change(at: 12))
        #expect(writes.overwriting.map(\.overwrittenTime) == [time(12)])
        // The client has not changed the document again since the mirror's write.
        #expect(dirty.lastChange(of: key, on: .target, after: time(12)) == nil)
    }

    @Test func onlyChangesOfTheSameDocumentAfterTheReadCount() {
        var dirty = DirtyPairs()
        dirty.add(key, .target, at: change(at: 10), read: 1)
        dirty.add(key, .source, at: change(at: 12), read: 1)
        #expect(dirty.lastChange(of: key, on: .target, after: time(10)) == nil)
        #expect(dirty.lastChange(of: IDKey(2), on: .source, after: time(10)) == nil)
    }

    /// A write that does not change the document is not recorded, because the server reports no change for it.
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
