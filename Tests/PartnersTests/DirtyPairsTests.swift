import BSON
import Following
import Testing

@testable import Partners

/// Tests the list of documents with changes that the mirror has not carried over yet.
///
/// Each entry is a pair of a document and its counterpart in the partner collection.
@Suite struct DirtyPairsTests {
    private let key = IDKey(1)

    private func time(_ seconds: UInt64) -> ChangeTime { ChangeTime(cluster: ClusterTime(rawValue: seconds << 32)) }

    @Test func aPairThatIsReturnedToTheQueueKeepsLaterChanges() throws {
        var pairs = DirtyPairs()
        pairs.add(key, .source, at: time(10), read: 1)
        let taken = try #require(pairs.take(1).first)
        pairs.add(key, .source, at: time(0), read: 2, isUnknown: true)
        pairs.add(key, .target, at: time(20), read: 3)
        pairs.restore(taken.key, taken.pair)
        let pair = try #require(pairs.take(1).first?.pair)
        #expect(pair.isUnknown)
        #expect(pair.changes[.source]?.last == time(10) && pair.changes[.source]?.first == time(0).cluster)
        #expect(pair.changes[.target]?.last == time(20))
        #expect(pair.read == 1)
        #expect(pairs.isEmpty)
    }

    @Test func aPairThatIsReturnedToTheQueueKeepsItsState() throws {
        var pairs = DirtyPairs()
        pairs.add(key, .source, at: time(0), read: 1, isUnknown: true)
        let taken = try #require(pairs.take(1).first)
        pairs.add(key, .target, at: time(20), read: 2)
        pairs.restore(taken.key, taken.pair)
        #expect(pairs.pairs[key]?.isUnknown == true)
    }

    @Test func theOldestChangeIsTheFirstOfAPair() {
        var pairs = DirtyPairs()
        #expect(pairs.since == nil)
        pairs.add(key, .source, at: time(30), since: time(20), read: 1)
        pairs.add(IDKey(2), .target, at: ChangeTime(cluster: ClusterTime(rawValue: 25 << 32), wall: 25_300), read: 1)
        pairs.add(key, .source, at: time(40), read: 2)
        #expect(pairs.since == 20_000)
        _ = pairs.take(1)
        #expect(pairs.since == 25_300)
        _ = pairs.take(1)
        #expect(pairs.since == nil)
    }

    @Test func changesAfterThePointInTimeOfAReadStay() {
        var pairs = DirtyPairs()
        pairs.add(key, .source, at: time(30), since: time(10), read: 1)
        pairs.add(key, .target, at: time(15), read: 1)
        pairs.add(IDKey(2), .target, at: time(25), read: 1)
        let due = pairs.takeChanges(of: key, upTo: time(20).cluster)
        #expect(due[.source]?.last == time(30) && due[.target]?.last == time(15))
        #expect(pairs.pairs[key]?.changes.keys.sorted { $0.rawValue < $1.rawValue } == [.source])
        #expect(pairs.takeChanges(of: key, upTo: time(20).cluster).isEmpty)
        #expect(pairs.takeChanges(of: IDKey(2), upTo: time(20).cluster).isEmpty && pairs.count == 2)
    }

    @Test func aCollectionWithoutAKnownTimeHasNoAge() {
        var pairs = DirtyPairs()
        pairs.add(key, .source, at: time(0), read: 1, isUnknown: true)
        #expect(pairs.since == nil && pairs.oldestRead == 1)
    }
}
