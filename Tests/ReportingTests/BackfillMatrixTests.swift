import BSON
import JobReports
import Running
import Testing

@testable import Reporting

/// Tests the report of a backfill of many databases.
@Suite struct BackfillMatrixTests {
    private func entry(
        _ database: String, _ outcome: DatabasesReport.Outcome, _ code: Int? = nil
    ) -> DatabasesReport.Entry {
        DatabasesReport.Entry(database: database, job: "person-v2.in-\(database)", outcome: outcome, exitCode: code)
    }

    private func matrix(
        _ entries: [DatabasesReport.Entry], ended: (String, DatabasesReport.End)? = nil
    ) -> BackfillMatrix {
        var report = DatabasesReport(job: "person-v2", of: "app", in: "t*", isDryRun: false, entries: entries)
        report.ended = ended.map { ($0.0, $0.1) }
        report.seconds = 2
        return BackfillMatrix(report, showsValues: false)
    }

    /// Returns the report of a finished job in a database; one of its notes is `note`.
    private func done(in database: String, note: String) -> BackfillReport {
        var report = BackfillReport.fixture(.done)
        (report.before, report.after) = ([], [])
        report.notes = ["no journal is kept", note, "what became of them stands in \(database).Home"]
        return report
    }

    @Test func stoppedAndFailedJobsAreHighlighted() {
        let text = matrix(
            [
                entry("t1", .reported(done(in: "t1", note: "one")), 0), entry("t2", .noCollection),
                entry("t3", .failed("t3.Person is a view", changed: 0), 65),
                entry("t4", .reported(.fixture(.stopped(.signal))), 75), entry("t5", .notReached(wasDone: false)),
                entry("t6", .notReached(wasDone: true)),
            ], ended: ("t4", .stop(.signal))
        ).text(.file)
        #expect(
            text.hasPrefix(
                """
                Job person-v2 in 6 databases: 1 done, 1 stopped, 1 failed, 1 no collection, 1 done before, 1 not \
                reached. Ended at t4: stopped by a signal; run it again to continue.

                t*
                  database  state          changed  skipped  exit
                  t1        done             1,790        0     0
                  t2        no collection
                  t3        failed               0             65
                    job person-v2.in-t3: t3.Person is a view
                  t4        stopped          1,790        0    75
                  t5        not reached
                  t6        done before

                In t4: job person-v2 on app.Person: stopped by a signal; run it again to continue
                """), "\(text)")
    }

    @Test func aNoteOnAllDatabasesIsShownOnce() {
        let text = matrix([
            entry("t1", .reported(done(in: "t1", note: "one")), 0),
            entry("t2", .reported(done(in: "t2", note: "two")), 0),
        ]).text(.file)
        #expect(
            text.split(separator: "\n").filter { $0.hasPrefix("Note: ") } == [
                "Note: no journal is kept", "Note: t1: one", "Note: what became of them stands in app.Home",
                "Note: t2: two",
            ], "\(text)")
    }

    @Test(arguments: [false, true]) func aDisagreementIsShownOnceWithItsDatabases(isInAll: Bool) throws {
        var (first, second) = (done(in: "t1", note: "one"), done(in: "t2", note: "two"))
        first.disagreement = "the two disagree"
        if isInAll { second.disagreement = first.disagreement }
        // A database whose code is not 0 has a part of its own in the report.
        let found = matrix([entry("t1", .reported(first), 1), entry("t2", .reported(second), 0)])
        let sentence = isInAll ? "the two disagree" : "t1: the two disagree"
        let text = found.text(.file)
        #expect(text.contains("Note: \(sentence)\n"), "\(text)")
        #expect(text.ranges(of: "disagree").count == 1, "\(text)")
        #expect(try BSONDocument(extendedJSON: found.json.text)["disagreement"] == .string(sentence))
    }

    @Test func aTestFailsForEachDatabaseWhoseCodeIsNot0() {
        let report = matrix([
            entry("t1", .reported(done(in: "t1", note: "")), 0), entry("t2", .failed("it failed", changed: 3), 69),
            entry("t3", .notReached(wasDone: false)),
        ]).report
        #expect(report.level == .error)
        let text = JUnitReport(report).text
        #expect(text.contains(#"tests="3" failures="1""#), "\(text)")
        #expect(text.contains(#"<failure type="failed" message="job person-v2.in-t2: it failed">"#), "\(text)")
    }

    @Test func metricsAreSums() {
        var report = DatabasesReport(
            job: "person-v2", of: "app", in: "t*", isDryRun: false,
            entries: [
                entry("t1", .reported(.fixture(.done)), 1), entry("t2", .reported(.fixture(.done)), 1),
                entry("t3", .noCollection),
            ])
        func text() -> String {
            var metrics = RunMetrics(command: "backfill", name: "person-v2", throttles: true, earlier: nil)
            metrics.take(report)
            return metrics.text(.ended(1), at: ServerTime(milliseconds: 0), after: 2)
        }
        let labels = #"{command="backfill",name="person-v2""#
        for line in [
            "shipshape_changed_documents\(labels)} 3580", "shipshape_remaining_documents\(labels)} 0",
            #"shipshape_databases\#(labels),state="done_with_findings"} 2"#,
            #"shipshape_databases\#(labels),state="no_collection"} 1"#,
        ] {
            #expect(text().contains(line + "\n"), "\(text())")
        }
        // The run did not reach the database `t4`, so it does not know how many of its documents remain. The report
        // therefore leaves out the metric `remaining_documents`; the value 0 would be wrong.
        report.entries.append(entry("t4", .notReached(wasDone: false)))
        #expect(!text().contains("remaining_documents"))
    }
}
