import BSON
import Testing

@testable import Backfill
@testable import Jobs

/// Tests that a run counts a document once, even if several phases change it.
@Suite struct RunTallyTests {
    @Test func inAJobOfOnePhaseEachDocumentIsFresh() {
        var tally = RunTally()
        tally.committed([1, 2])
        #expect(tally.fresh([1, 2, 3]) == 3)
    }

    @Test func aDocumentThatTwoPhasesChangeIsOneDocument() {
        var tally = RunTally()
        tally.beginPhases()
        #expect(tally.fresh([1, 2]) == 2)
        tally.committed([1, 2])
        #expect(tally.fresh([2, 3]) == 1)
    }

    @Test func afterAnElectionUndidAChangeItsDocumentCountsAgain() {
        var tally = RunTally()
        tally.beginPhases()
        tally.committed([1])
        tally.reset()
        #expect(tally.fresh([1]) == 1)
    }
}

/// Tests the count of the documents that a run made unsyncable.
@Suite struct UnsyncAccountTests {
    @Test func onlyDocumentsThatStopSyncingCount() {
        var account = UnsyncAccount()
        account.add(
            [Judgement.unsyncable, .safe, nil].enumerated().map { index, judgement in
                var document = DueDocument(id: .integer(index))
                document.judgement = judgement
                return document
            })
        #expect(account.unsyncable == 1)
    }
}

/// Tests how the chunk size is halved after a chunk took too long, grows back step by step, and obeys a limit that was
/// lowered.
@Suite struct ChunkPacingTests {
    private func limits(_ documents: Int, bytes: Int = 1 << 30) -> Job.Limits {
        var limits = Job.Limits()
        (limits.chunkDocuments, limits.chunkBytes) = (documents, bytes)
        limits.chunkTime = .milliseconds(500)
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
            pacing.note(.milliseconds(1))
            _ = pacing.learn(from: pacing.documents, isWhole: true)
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
        let reported = (0..<3).map { _ in
            pacing.note(.seconds(60))
            return pacing.learn(from: 1, isWhole: true)
        }
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
