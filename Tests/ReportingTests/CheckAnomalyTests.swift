import BSON
import Checking
import Foundation
import ServerSchema
import Testing

@testable import Reporting

/// Tests the rule that decides whether a finding has more documents than usual.
@Suite struct CheckAnomalyTests {
    private func summary(
        _ day: Int, _ documents: Int, accepted: Bool = false, source: String = "here", schema: String = "v2",
        collections: [String] = ["app.A"]
    ) -> CheckSummary {
        let findings =
            documents == 0
            ? [] : [CheckSummary.Finding(collection: "app.A", rule: "type-mismatch", path: "n", documents: documents)]
        return CheckSummary(
            at: ServerTime(milliseconds: Int64(day) * 86_400_000), source: source, schema: schema, documents: 1_000,
            failing: documents, possible: 0, unsynced: nil, headroom: nil, collections: collections,
            findings: accepted ? [] : findings, accepted: accepted ? findings : [])
    }

    private func anomalies(after counts: [Int], _ now: Int) -> [CheckAnomaly] {
        CheckHistory((counts + [now]).enumerated().map { summary($0, $1) }).anomalies
    }

    @Test(
        arguments: [
            // The usual number, the median, is 9. A number is an anomaly if it is more than three times as large: 28,
            // not 27.
            ([12, 9, 11, 9, 10, 8, 9], 27, nil), ([12, 9, 11, 9, 10, 8, 9], 28, 9),
            // At least three earlier checks are needed to know the usual number.
            ([1, 1], 100, nil), ([1, 1, 1], 100, 1),
            // Fewer than ten documents are no anomaly. The usual number of a new finding is 0.
            ([1, 1, 1], 9, nil), ([1, 1, 1], 10, 1), ([0, 0, 0], 10, 0), ([0, 0, 0], 9, nil),
            // Only the last seven checks count, and one outlier among them does not change what is usual.
            ([90, 90, 90, 90, 5, 5, 5, 5, 5, 5, 5], 16, 5), ([5, 5, 5, 500, 5, 5, 5], 16, 5),
            // If two numbers are in the middle, the larger one is the usual one.
            ([4, 4, 8, 8], 24, nil), ([4, 4, 8, 8], 25, 8),
        ] as [([Int], Int, Int?)])
    func moreThanThreeTimesTheMedianIsAnAnomaly(_ counts: [Int], _ now: Int, _ usual: Int?) {
        #expect(anomalies(after: counts, now).map(\.usual) == [usual].compactMap(\.self))
    }

    @Test func onlyComparableChecksSayWhatIsUsual() {
        let now = summary(9, 100)
        func usual(_ earlier: (Int) -> CheckSummary) -> [Int] {
            CheckHistory((1...3).map(earlier) + [now]).anomalies.map(\.usual)
        }
        #expect(usual { summary($0, 1) } == [1])
        #expect(usual { summary($0, 1, source: "there") } == [])
        #expect(usual { summary($0, 1, schema: "v1") } == [])
        #expect(usual { summary($0, 0, collections: ["app.B"]) } == [])
    }

    /// When an exception expires, the finding still has as many documents as before, so it is no anomaly.
    @Test func anExceptionThatExpiresIsNoAnomaly() throws {
        let history = CheckHistory((1...5).map { summary($0, 200, accepted: true) } + [summary(6, 200)])
        #expect(history.anomalies.isEmpty)
        let grown = CheckHistory((1...5).map { summary($0, 20, accepted: true) } + [summary(6, 200, accepted: true)])
        #expect(grown.anomalies.map(\.usual) == [20])
        let kept = summary(1, 20, accepted: true)
        #expect(try CheckSummary(parsing: kept.text) == kept)
    }

    @Test func anAnomalyIsInEveryForm() throws {
        // The ledger is far from its limit; a full ledger would make every check fail.
        let check = try CheckReport.fixture(ledgerCount: 0)
        let now = CheckSummary(check, schema: "v2", at: ServerTime(milliseconds: 9_000))
        let history = CheckHistory(
            (1...3).map { second in
                var earlier = now
                earlier.at = ServerTime(milliseconds: Int64(second) * 1_000)
                for index in earlier.findings.indices { earlier.findings[index].documents = 2 }
                return earlier
            } + [now])
        let result = CheckResult(check, policy: FailurePolicy(), history: history)
        let sentence = "1,023 documents by required-missing at email, and 2 is usual (the median of 3 checks)"
        // Five documents are too few for an anomaly.
        #expect(history.anomalies.map(\.message) == [sentence])
        let block = result.text(.file).components(separatedBy: "\n\n").first { $0.hasPrefix("Anomalies: ") }
        #expect(block?.contains("\n  usual    now  collection  rule              path") == true, "\(block ?? "")")
        #expect(HTMLReport(result.report).text.contains("more than 3 times the usual number of documents"))
        #expect(GitHubAnnotations(result.report).text.contains("::warning title=anomaly app.Person email"))
        #expect(result.json.text.contains("\"anomalies\": [\n    {\n      \"collection\": \"app.Person\""))
        #expect(result.json.lines.contains(#"{"record":"anomaly","collection":"app.Person","rule":"required-missing""#))
        #expect(CheckResult(check, policy: FailurePolicy()).json.text.contains("\"anomalies\": []"))
        let failing = CheckResult(
            check, policy: FailurePolicy(documents: .none, includesAnomalies: true), history: history)
        #expect(failing.hasFailed && !CheckResult(check, policy: FailurePolicy(documents: .none)).hasFailed)
        #expect(GitHubAnnotations(failing.report).text.contains("::error title=anomaly app.Person email"))
    }

    @Test func theMetricIsTheNumberOfAnomalies() throws {
        var metrics = RunMetrics(command: "check", name: "v2", throttles: false, earlier: nil)
        metrics.take([try CheckReport.fixture()])
        func text() -> String { metrics.text(.ended(0), at: ServerTime(milliseconds: 0), after: 1) }
        #expect(!text().contains("shipshape_anomalies"))
        metrics.add(anomalies(after: [1, 1, 1], 100))
        #expect(text().contains("\nshipshape_anomalies{command=\"check\",name=\"v2\"} 1\n"))
    }

    @Test func theHistoryCountsTheAnomaliesOfEachCheck() {
        let history = CheckHistory([1, 1, 1, 100, 1].enumerated().map { summary($0, $1) })
        let lines = HistoryResult(history, place: "h", last: 2).text(TextLayout(width: 200)).split(separator: "\n")
        let rows = lines.filter { $0.hasPrefix("  1970-") }
        #expect(rows.map { $0.split(separator: " ").last } == ["1", "0"], "\(lines)")
    }
}
