import BSON
import Jobs
import Mongo
import Testing

@testable import Backfill
@testable import JobState

/// Tests that an attempt at a write reports only what is certain if the server's replies were lost or incomplete.
@Suite struct JournaledAttemptTests {
    /// Returns an attempt to write these documents; the first `sent` updates were sent, by default all.
    private func attempt(_ ids: ClosedRange<Int>, sent: Int = .max) -> JournaledAttempt {
        var attempt = JournaledAttempt(1, ids.map { DueDocument(id: .integer($0), change: nil, judgement: nil) })
        attempt.updates = ids.map {
            ChunkWriter.Update(ids: [.integer($0)], condition: .constant(true), pipeline: [])
        }
        attempt.willSend(Array(attempt.updates.prefix(sent)))
        return attempt
    }

    private func error(_ code: MongoError.Code, modified: Int? = nil, atLeast: Int? = nil) -> MongoError {
        MongoError(.server, code, message: "x", modified: modified, modifiedAtLeast: atLeast)
    }

    /// The error of an attempt without a reply.
    private let lost = MongoError(.stream, .hostUnreachable, message: "gone", labels: ["RetryableWriteError"])

    @Test func allThatIsAcknowledgedIsWhole() {
        var attempt = attempt(1...3)
        attempt.wrote(2)
        #expect(!attempt.isWhole)
        attempt.wrote(1)
        #expect(attempt.isWhole)
    }

    @Test func aRefusalThatShowsItsSumIsExact() {
        var attempt = attempt(1...3)
        let reported = attempt.failed(error(.duplicateKey, modified: 1, atLeast: 1), isPerDocument: false)
        attempt.wrote(2)
        #expect(reported && attempt.isWhole)
    }

    /// After an error, the server may report only a lower bound for the number of changed documents.
    ///
    /// The number is exact if each document has its own update. If one update covers many documents, it may have
    /// changed further documents before it was refused at one of them.
    @Test func aSumThatIsALowerBoundIsExactOnlyDocumentByDocument() {
        for isPerDocument in [true, false] {
            var attempt = attempt(1...3)
            let reported = attempt.failed(error(.duplicateKey, atLeast: 1), isPerDocument: isPerDocument)
            attempt.wrote(2)
            #expect(reported && attempt.isWhole == isPerDocument)
        }
    }

    @Test func aLostReplyProvesNothing() {
        var attempt = attempt(1...3)
        let reported = attempt.failed(lost, isPerDocument: true)
        attempt.wrote(3)
        #expect(!reported && !attempt.isWhole)
    }

    @Test func aNewCountLeavesTheDoubtfulOnesUnsure() {
        var attempt = attempt(1...3)
        _ = attempt.failed(lost, isPerDocument: true)
        attempt.recount(without: [1])
        attempt.wrote(2)
        #expect(!attempt.isWhole)
        let written = attempt.written(seeing: [1, 2, 3], others: [])
        #expect(written.unsure == [1] && written.missed.isEmpty)
    }

    /// The server reports two changed documents, and exactly two of the three documents have the new values.
    ///
    /// The numbers agree, so no document was written and then changed by another client. The write certainly missed the
    /// third document.
    @Test func aCountNamesTheMissedOnesWhereNothingElseIsPossible() {
        var attempt = attempt(1...3)
        attempt.wrote(2)
        #expect(attempt.written(seeing: [1, 3], others: []).missed == [2])
    }

    @Test(arguments: [[7], nil] as [Set<BSONValue>?])
    func whereOthersMayHaveBeenChangedAllAreUnsure(_ others: Set<BSONValue>?) {
        var attempt = attempt(1...3)
        attempt.wrote(2)
        let written = attempt.written(seeing: [1, 3], others: others)
        #expect(written.unsure == [1, 2, 3] && written.missed.isEmpty)
    }

    @Test func aCountThatDoesNotFitLeavesAllUnsure() {
        var attempt = attempt(1...3)
        attempt.wrote(1)
        #expect(attempt.written(seeing: [1, 3], others: []).unsure == [1, 2, 3])
    }

    @Test func documentsWhoseUpdateWasNotSentAreMissed() {
        var attempt = attempt(1...4, sent: 2)
        attempt.wrote(2)
        #expect(!attempt.isWhole && attempt.sentIDs == [1, 2])
        // Document 4 has the new value because another client made the same change. The document still counts as missed
        // by the attempt, because its update was not sent.
        let written = attempt.written(seeing: [1, 2, 4], others: [])
        #expect(written.missed == [3, 4] && written.unsure.isEmpty)
    }

    @Test func aDoubtfulWriteLeavesOnlyTheSentDocumentsUnsure() {
        var attempt = attempt(1...4, sent: 2)
        _ = attempt.failed(lost, isPerDocument: true)
        let written = attempt.written(seeing: [1], others: nil)
        #expect(written.unsure == [1, 2] && written.missed == [3, 4])
    }
}
