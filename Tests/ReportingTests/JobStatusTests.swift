import BSON
import Reporting
import Testing

@testable import JobState
@testable import Jobs
@testable import Running

/// Tests the status of a job, as text for people and as JSON for programs.
@Suite struct JobStatusTests {
    /// The status of a job whose run has processed half of the collection.
    private var running: JobStatus {
        var status = JobStatus(job: "person-v2", now: ServerTime(milliseconds: 1_795_300_000_000))
        status.namespace = Namespace(database: "app", collection: "Person")
        status.state = .running
        (status.work.processed, status.work.estimate, status.work.chunks, status.work.modified) = (
            50_000, 100_000, 30, 149_000
        )
        status.work.rate = 1_000
        status.holder = JobStatus.Holder(host: "db7", process: 412, since: ServerTime(milliseconds: 1_795_299_000_000))
        return status
    }

    private func text(_ status: JobStatus) -> String {
        JobStatusResult([status], isDetailed: true).text(TextLayout())
    }

    @Test func theShareIsThatOfTheRound() {
        #expect(running.share == 0.5)
        #expect(running.secondsLeft == 50)
        var done = running
        done.state = .done
        #expect(done.share == 1)
    }

    @Test func theTimeLeftIsNotGuessedFromTheFirstDocuments() {
        var early = running
        early.work.processed = 99
        #expect(early.secondsLeft == nil)
        early.work.processed = 100
        #expect(early.secondsLeft == 99.9)
    }

    @Test func aRunningJobIsReportedInFull() {
        #expect(
            text(running) == """
                job person-v2 on app.Person: running
                  50%, 50,000 of about 100,000 documents in 30 chunks, 149,000 changed so far (provisional)
                  1,000 documents per second, about 50 s left
                  held by process 412 on host db7 since 2026-11-21 22:10:00 UTC

                """)
    }

    @Test func aWaitingJobShowsMetricValueAndLimit() {
        var waiting = running
        waiting.state = .waiting
        waiting.waiting = [WaitReason(.majorityLag, metric: "majority lag", value: "14 s", limit: "10 s")]
        #expect(text(waiting).contains("person-v2 on app.Person: waiting\n"))
        #expect(text(waiting).contains("\n  waiting: majority lag: 14 s, limit 10 s\n"))
        waiting.waiting[0] = WaitReason(
            .operatorPause, metric: "pause", value: "paused by root", limit: "shipshape job resume person-v2")
        #expect(text(waiting).contains("\n  waiting: paused by root; continue with: shipshape job resume person-v2\n"))
    }

    @Test func skippedDocumentsAreReportedByCode() {
        var done = running
        done.state = .done
        done.skipped = [("121", 3), ("11000", 9)]
        #expect(text(done).contains("\n  skipped: 12 documents: 3 with code 121, 9 with code 11000\n"))
        #expect(done.share == 1)
        #expect(done.secondsLeft == nil)
    }

    @Test func aLogCannotWriteToTheTerminal() {
        var status = running
        status.log = [JobStatus.LogLine(at: status.now, by: "eve@db7", what: "paused: \u{1B}[2J")]
        #expect(!text(status).contains("\u{1B}"))
    }

    @Test func machinesReadTheSame() throws {
        let report = try BSONDocument(extendedJSON: JobStatusResult([running], isDetailed: true).json.text)
        #expect(report["schema_version"] == 1)
        let job = try #require(report["jobs"]?.document?.values.first?.document)
        #expect(job["state"] == "running")
        #expect(job["permille"] == 500)
        #expect(job["seconds_left"] == 50)
        #expect(job["phases"] == 1)
        #expect(job["paused"] == .null)
        let line = try BSONDocument(extendedJSON: JobStatusResult([running], isDetailed: true).line)
        #expect(line["record"] == "status")
        #expect(line["jobs"] == report["jobs"])
    }
}
