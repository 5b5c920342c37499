import BSON
import Testing

@testable import Backfill
@testable import JobState

/// Tests that a checkpoint confirms all writes of its chunk if one primary acknowledged them in one term.
///
/// A single wait for a majority, at the checkpoint, is then enough.
@Suite struct WriteDurabilityTests {
    private func reply(term: Int) -> BSONDocument { ["ok": 1, "opTime": ["ts": 1, "t": .integer(term)]] }

    private func journal(_ sequence: Int64) -> WriteDurability.Journal {
        WriteDurability.Journal(
            entries: ChunkJournal(touched: ["name"]), key: .init(sequence: sequence, pass: 0, phase: 0, chunk: 1),
            touched: ["name"])
    }

    @Test func writesOfOneTermAreConfirmedByTheCheckpoint() {
        var writes = WriteDurability(isReplicaSet: true)
        writes.add(journal(1), [reply(term: 3)])
        writes.add(reply(term: 3))
        #expect(writes.unconfirmed.count == 1)
        let isConfirmed = writes.isConfirmed(by: reply(term: 3))
        #expect(isConfirmed && !writes.waitsEachTime)
        writes.confirmed()
        #expect(writes.unconfirmed.isEmpty)
    }

    @Test func anElectionInBetweenConfirmsNothingAndTheNextChunkMayTrustAgain() {
        var writes = WriteDurability(isReplicaSet: true)
        writes.add(journal(1), [reply(term: 3)])
        var isConfirmed = writes.isConfirmed(by: reply(term: 4))
        #expect(!isConfirmed && !writes.waitsEachTime)
        // The whole chunk is written again in the new term. The journal of the first attempt is not confirmed.
        writes.begin()
        writes.add(journal(2), [reply(term: 4)])
        isConfirmed = writes.isConfirmed(by: reply(term: 4))
        #expect(isConfirmed)
        #expect(writes.unconfirmed.map(\.key.sequence) == [1, 2])
    }

    @Test func aServerThatNamesNoTermIsWaitedForEachTime() {
        var writes = WriteDurability(isReplicaSet: true)
        writes.add(["ok": 1])
        var isConfirmed = writes.isConfirmed(by: reply(term: 3))
        #expect(!isConfirmed && writes.waitsEachTime)
        // The server reports no term, so from now on, each write must reach a majority before the next one is sent.
        writes.begin()
        writes.add(journal(1), [["ok": 1]])
        isConfirmed = writes.isConfirmed(by: ["ok": 1])
        #expect(isConfirmed && writes.unconfirmed.isEmpty)
    }
}
