import BSON
import Jobs
import Mongo
import Testing

@testable import Backfill
@testable import JobState

/// An attempt at a write whose replies were lost or incomplete reports only what is certain.
@Suite struct JournaledAttemptTests {
    /// An attempt at these documents of which the first `sent` updates, or all of them, were sent.
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

    /// The error of an attempt whose reply never arrived.
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

    /// The server reports only a lower bound for the number of changed documents.
    ///
    /// That is exact if each document has its own update. An update of many may have changed some before the refused
    /// one.
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

    /// A count that matches the documents that look changed shows which document was missed.
    ///
    /// This holds only if the write cannot have changed any other document.
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
        // A client has changed document 4 in the way that the attempt would have.
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
