import BSON
import Checking
import JobReports
import JobState
import ServerSchema
import Testing

@testable import Reporting
@testable import Running

/// Tests the metrics of a run, as the text of a file for a Prometheus collector.
@Suite struct RunMetricsTests {
    private let labels = "{command=\"check\",name=\"v2\"}"

    private func time(_ seconds: Int64) -> ServerTime { ServerTime(milliseconds: seconds * 1_000) }

    @Test func aCheckShowsWhatItFound() throws {
        var metrics = RunMetrics(command: "check", name: "v2", throttles: false, earlier: nil)
        metrics.take([try CheckReport.fixture()])
        let text = metrics.text(.ended(1), at: time(100), after: 12.5)
        for line in [
            "shipshape_last_success_timestamp_seconds\(labels) 100", "shipshape_exit_code\(labels) 1",
            "shipshape_run_duration_seconds\(labels) 12.5", "shipshape_running\(labels) 0",
            "shipshape_documents\(labels) 201500", "shipshape_ledger_entries\(labels) 99000",
            "shipshape_headroom_documents\(labels) 999", "shipshape_unsynced_limit\(labels) 100000",
            "shipshape_failing_documents{command=\"check\",name=\"v2\",level=\"certain\"} 1000",
            "shipshape_findings{command=\"check\",name=\"v2\",collection=\"app.Person\",rule=\"required-missing\","
                + "level=\"certain\"} 1023",
        ] {
            #expect(text.contains("\n\(line)\n"), "\(line)\n\(text)")
        }
        // A check does not wait for the throttle, so it has no metrics of the throttle.
        #expect(!text.contains("throttled"))
    }

    @Test func aDocumentCountsOnceForEachOfItsFindings() throws {
        var report = try CheckReport.fixture()
        var other = report.collections[0].groups[0]
        other.violation = Violation(
            path: SchemaPath([.field("phone")]), rule: Rule.requiredMissing.code, level: .certain, expected: "string",
            found: "missing")
        other.count = 20
        report.collections[0].groups.append(other)
        var metrics = RunMetrics(command: "check", name: "v2", throttles: false, earlier: nil)
        metrics.take([report])
        let text = metrics.text(.ended(1), at: time(100), after: 1)
        #expect(text.contains("rule=\"required-missing\",level=\"certain\"} 1043\n"), "\(text)")
        let help = "Findings in documents, by collection, rule and level; a document can have several."
        #expect(text.contains("# HELP shipshape_findings \(help)\n"), "\(text)")
    }

    /// A collector refuses a file that describes a metric twice, or that has other lines between the lines of a metric.
    @Test func everyMetricIsDescribedOnceAndBeforeItsLines() throws {
        var metrics = RunMetrics(command: "backfill", name: "a\"b\\c\nd", throttles: true, earlier: nil)
        metrics.take(BackfillReport.fixture(.done))
        let text = metrics.text(.ended(0), at: time(1), after: 1)
        var (described, current): (Set<Substring>, Substring) = ([], "")
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix("# HELP ") {
                #expect(described.insert(words[2]).inserted, "\(line)")
                current = words[2]
            } else if line.hasPrefix("# TYPE ") {
                #expect(words[2] == current)
            } else {
                #expect(line.hasPrefix("\(current){command=\"backfill\",name=\"a\\\"b\\\\c\\nd\""), "\(line)")
            }
        }
        #expect(described.contains("shipshape_changed_documents"))
    }

    @Test func aRunThatFailsLeavesTheLastSuccessAsItWas() throws {
        var good = RunMetrics(command: "check", name: "v2", throttles: false, earlier: nil)
        good.take([try CheckReport.fixture()])
        let before = good.text(.ended(0), at: time(100), after: 1)
        let failing = RunMetrics(command: "check", name: "v2", throttles: false, earlier: before)
        let after = failing.text(.ended(69), at: time(200), after: 2)
        #expect(after.contains("shipshape_last_success_timestamp_seconds\(labels) 100\n"))
        #expect(after.contains("shipshape_run_timestamp_seconds\(labels) 200\n"))
        #expect(after.contains("shipshape_exit_code\(labels) 69\n"))
        // The failed run has no results, so the results of the earlier run are kept.
        #expect(after.contains("shipshape_documents\(labels) 201500\n"))
        let again = RunMetrics(command: "check", name: "v2", throttles: false, earlier: after)
        let text = again.text(.ended(69), at: time(200), after: 2)
        #expect(text == after)
        // The earlier results are for the schema `v2`, so the metrics for `v3` do not keep them.
        let other = RunMetrics(command: "check", name: "v3", throttles: false, earlier: before)
        #expect(!other.text(.ended(75), at: time(200), after: 2).contains("v2"))
    }

    @Test func aBackfillShowsHowFarItIsAndWhyItWaits() {
        var metrics = RunMetrics(command: "backfill", name: "job", throttles: true, earlier: nil)
        metrics.add(documents: 30, changed: 20)
        metrics.add(documents: 10, changed: 10)
        metrics.waitReasons = [WaitReason(.veto, metric: "veto by host", value: "answered 503", limit: "200")]
        let text = metrics.text(.running, at: time(5), after: 4)
        let labels = "command=\"backfill\",name=\"job\""
        for line in [
            "shipshape_running{\(labels)} 1", "shipshape_documents{\(labels)} 40",
            "shipshape_changed_documents{\(labels)} 30", "shipshape_documents_per_second{\(labels)} 10",
            "shipshape_throttled{\(labels),reason=\"veto\"} 1", "shipshape_throttled{\(labels),reason=\"oplog\"} 0",
        ] {
            #expect(text.contains("\n\(line)\n"), "\(line)\n\(text)")
        }
        #expect(!text.contains("last_success") && !text.contains("exit_code"))
        var stopped = BackfillReport.fixture(.stopped(.signal))
        stopped.after = []
        stopped.work.waits = [ThrottleWait(waitReason: metrics.waitReasons[0], seconds: 2.5)]
        metrics.take(stopped)
        let end = metrics.text(.ended(75), at: time(9), after: 8)
        #expect(end.contains("\nshipshape_throttled{\(labels),reason=\"veto\"} 0\n"))
        #expect(end.contains("\nshipshape_throttled_seconds{\(labels),reason=\"veto\"} 2.5\n"))
        #expect(end.contains("\nshipshape_changed_documents{\(labels)} 1790\n"))
        #expect(!end.contains("remaining") && !end.contains("last_success"))
    }
}
