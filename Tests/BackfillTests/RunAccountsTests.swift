import BSON
import Testing

@testable import Backfill
@testable import Jobs

/// Tests that a run counts each document once, even after failures and retries.
@Suite struct RunTallyTests {
    @Test func aChunkCountsWithItsCheckpoint() {
        var tally = RunTally()
        tally.wrote(3)
        #expect(tally.documents == 0 && tally.uncountedDocuments == 3)
        tally.checkpointed()
        #expect((tally.chunks, tally.documents, tally.updates) == (1, 3, 3))
        #expect(tally.uncounted == 0)
    }

    @Test func aDocumentThatTwoPhasesChangeIsOneDocumentAndTwoUpdates() {
        var tally = RunTally()
        tally.beginPhases()
        tally.begin([1, 2])
        tally.wrote(2)
        tally.checkpointed()
        tally.begin([2, 3])
        tally.wrote(2)
        tally.checkpointed()
        #expect((tally.documents, tally.updates) == (3, 4))
    }

    @Test func changesOfAFailedWriteCountWhenTheyAreReported() {
        var tally = RunTally()
        tally.failed(2)
        #expect(tally.uncounted == 2 && !tally.isLow)
        tally.failed(nil)
        #expect(tally.uncounted == 2 && tally.isLow)
    }

    @Test func aChunkThatIsGivenUpCountsNothing() {
        var tally = RunTally()
        tally.wrote(5)
        tally.giveUp(isLow: true)
        tally.checkpointed()
        #expect(tally.documents == 0 && tally.isLow)
    }

    @Test func uncheckpointedCountsAreTakenOver() {
        var tally = RunTally()
        tally.wrote(4)
        #expect(tally.takeOver() == 4)
        #expect((tally.chunks, tally.documents) == (0, 4))
    }
}

/// Tests that an undo counts each document once, even if its batch has to be tried again.
@Suite struct UndoTallyTests {
    @Test func aBatchThatIsTriedAgainCountsOnce() {
        var tally = UndoTally()
        for _ in 0..<2 {
            tally.makeUnsyncable([1, 2])
            tally.move([2])
        }
        #expect(tally.madeUnsyncable == 0 && tally.moved == 0)
        tally.finish([1, 2, 3]) { _ in true }
        #expect(tally.madeUnsyncable == 2 && tally.moved == 1)
        tally.finish([1, 2, 3]) { _ in true }
        #expect(tally.madeUnsyncable == 2 && tally.moved == 1)
    }

    /// The first attempt to restore a batch of four documents fails, so the batch is divided into two halves.
    ///
    /// Each document counts once.
    @Test func aBatchThatIsHalvedCountsOnce() {
        var tally = UndoTally()
        tally.makeUnsyncable([1, 2, 3, 4])
        for half in [[1, 2], [3, 4]] as [[BSONValue]] {
            tally.makeUnsyncable(half)
            tally.finish(half) { _ in true }
        }
        #expect(tally.madeUnsyncable == 4)
    }

    @Test func aSkippedDocumentIsNotCounted() {
        var tally = UndoTally()
        tally.makeUnsyncable([1, 2])
        tally.move([1])
        tally.finish([1, 2]) { $0 != 1 }
        #expect(tally.madeUnsyncable == 1 && tally.moved == 0)
    }
}

/// Tests how a run counts the documents that it makes unsyncable.
///
/// Also tests which of these documents the run still has to check, because it is not known whether they became
/// unsyncable.
@Suite struct UnsyncAccountTests {
    @Test func aWriteThatIsTriedAgainCountsOnce() {
        var account = UnsyncAccount()
        account.begin(unsyncable: [1, 2])
        account.begin(unsyncable: [1, 2, 3])
        #expect(account.unsyncable == 3)
    }

    /// A document counts twice if a user repairs it after the run's checkpoint and the job then makes it unsyncable
    /// again.
    @Test func afterItsCheckpointADocumentCountsAgain() {
        var account = UnsyncAccount()
        account.begin(unsyncable: [1])
        account.confirm(unsyncable: [1])
        account.begin(unsyncable: [1])
        #expect(account.unsyncable == 2)
    }

    @Test func aSkippedDocumentIsNotCountedAsUnsyncableAndIsChecked() {
        var account = UnsyncAccount()
        account.begin(unsyncable: [1, 2])
        account.skip(1)
        #expect(account.unsyncable == 1 && account.takeUnconfirmed() == [1])
        // Document 9 was never counted, because no write of it was begun, so skipping it does not lower the count.
        account.skip(9)
        #expect(account.unsyncable == 1)
    }

    @Test func aPossiblyUnsyncableDocumentIsCheckedOnce() {
        var account = UnsyncAccount()
        account.reserve(possiblyUnsyncable: [1, 2])
        #expect(account.takeUnconfirmed() == [1, 2])
        #expect(account.takeUnconfirmed().isEmpty)
    }
}

/// Tests how the chunk size is halved after a chunk took too long, grows back step by step, and obeys a limit that was
/// lowered.
@Suite struct ChunkPacingTests {
    private func limits(_ documents: Int, bytes: Int = 1 << 30) -> Job.Limits {
        var limits = Job.Limits()
        (limits.chunkDocuments, limits.chunkBytes) = (documents, bytes)
        return limits
    }

    private func pacing(_ documents: Int) -> ChunkPacing { ChunkPacing(limits(documents), averageSize: nil) }

    @Test func aFullChunkThatTookTooLongHalvesTheSize() {
        var pacing = pacing(100)
        pacing.halve(from: 100)
        #expect(pacing.documents == 50)
    }

    @Test func aPartThatTookTooLongIsFollowedByStepsBackUp() {
        var pacing = pacing(100)
        pacing.halve(from: 20)
        var sizes = [pacing.documents]
        while pacing.documents < 100 {
            _ = pacing.learn(from: pacing.documents, isWhole: true, time: .milliseconds(1))
            sizes.append(pacing.documents)
        }
        #expect(sizes == [10, 20, 40, 80, 100])
    }

    @Test func aSingleDocumentIsNotHalved() {
        var pacing = pacing(100)
        pacing.halve(from: 1)
        #expect(pacing.documents == 1)
    }

    @Test func thatOneDocumentTakesTooLongIsReportedOnce() {
        var pacing = pacing(1)
        let reported = (0..<3).map { _ in pacing.learn(from: 1, isWhole: true, time: .seconds(60)) }
        #expect(reported == [true, false, false])
    }

    @Test func aLowerCapHoldsAtOnce() {
        var pacing = pacing(100)
        pacing.adopt(limits(7, bytes: 4_096))
        #expect(pacing.documents == 7 && pacing.amount.bytes == 4_096)
    }

    @Test func aLowerCapHoldsWhileTheSizeGrowsBack() {
        var pacing = pacing(100)
        pacing.halve(from: 40)
        #expect(pacing.documents == 20)
        pacing.adopt(limits(7))
        #expect(pacing.documents == 7)
        pacing.halve(from: 7)
        #expect(pacing.documents == 3)
    }
}
