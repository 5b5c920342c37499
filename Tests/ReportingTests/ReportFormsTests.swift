import BSON
import Checking
import Foundation
import JobReports
import Running
import SchemaChange
import ServerSchema
import Testing

@testable import Reporting

/// Tests that a report has the same content in every output format.
@Suite struct ReportFormsTests {
    private func failing(_ policy: FailurePolicy = FailurePolicy()) throws -> Report {
        CheckResult(try .fixture(), policy: policy).report
    }

    @Test func aCheckIsTheSameInEveryForm() throws {
        let report = try failing()
        let forms = [
            MarkdownReport(report).text, HTMLReport(report).text, JUnitReport(report).text,
            GitHubAnnotations(report).text,
        ]
        for text in forms {
            #expect(text.contains("Sync itself will stop: the limit of 100,000 is reached."), "\(text)")
            #expect(text.contains("required-missing") && text.contains("binary-subtype"), "\(text)")
            #expect(text.contains("majority reads are not available") || text.contains("<testsuites"), "\(text)")
        }
    }

    /// A build server counts a finding as a failure exactly if the command exits with 1 because of that finding.
    @Test func onlyWhatFailsTheRunIsAFailure() throws {
        func failures(_ policy: FailurePolicy) throws -> (jUnit: Int, gitHub: Int) {
            let report = try failing(policy)
            return (
                JUnitReport(report).text.components(separatedBy: "<failure ").count - 1,
                GitHubAnnotations(report).text.split(separator: "\n").count { $0.hasPrefix("::error ") }
            )
        }
        // The three failures are the verdict on the documents, the verdict on the limit of unsynced documents, and one
        // group of findings.
        #expect(try failures(FailurePolicy()) == (3, 3))
        #expect(try failures(FailurePolicy(includesPossible: true)) == (4, 4))
        // A ledger that will reach its limit is a failure, even if the policy ignores findings about documents.
        #expect(try failures(FailurePolicy(documents: .none)) == (1, 1))
    }

    @Test(arguments: [
        ("run `a <b>` or `c`", "run <code>a &lt;b&gt;</code> or <code>c</code>"), ("a `b` `c", "a <code>b</code> `c"),
        ("none", "none"),
    ])
    func aPageShowsCodeInSentences(_ sentence: String, _ shown: String) {
        let report = Report(command: "check", title: "app", headline: sentence, level: .error)
        #expect(HTMLReport(report).text.contains("<span>\(shown)</span>"))
    }

    /// The colour of the page is that of the worst part.
    @Test func aVerdictHasTheLevelOfItsWorstPart() throws {
        for ledgerCount in [10, 99_000] {
            let report = CheckResult(try .fixture(ledgerCount: ledgerCount), policy: FailurePolicy()).report
            #expect(report.level == .error && report.parts.contains { $0.level == .error })
        }
    }

    @Test func aRunThatFoundNothingHasATestCase() throws {
        let lint = LintReport(
            source: "app",
            schema: try ServerSchema.read(
                text: #"{"title": "P", "properties": {}}"#, namespace: Namespace(database: "app", collection: "P")),
            findings: [])
        let text = JUnitReport(LintResult(lint, isStrict: false).report).text
        #expect(text.contains(#"tests="1" failures="0""#) && text.contains(#"name="verdict""#))
    }

    @Test func aGaugeShowsWhereTheLimitIs() throws {
        let gauge = try #require(try failing().figures.gauges.first)
        #expect(gauge.limit == 100_000 && gauge.amounts.map(\.value) == [99_000, 1_000, 5])
        // The amounts add up to 100,005, and the scale ends at 1.05 times that amount, so the limit of 100,000 is at
        // 95.2%.
        #expect(HTMLFigures.gauge(gauge, id: "g").text.contains("left:95.2%"))
        func widths(_ gauge: Report.Gauge) -> [Substring] {
            HTMLFigures.gauge(gauge, id: "g").text.matches(of: /width="([0-9.]+)" height="40"/).map(\.output.1)
        }
        var below = gauge
        below.amounts[0].value = 10
        #expect(!HTMLFigures.gauge(below, id: "g").text.contains("left:"))
        // A bar is always visible if its amount is above zero, and is not drawn if its amount is zero. The first width
        // is that of the ground.
        #expect(widths(below) == ["1000", "4", "10", "4"])
        below.amounts[0].value = 0
        #expect(widths(below) == ["1000", "10", "4"])
    }

    @Test func theHistoryIsATrend() throws {
        let check = try CheckReport.fixture()
        let runs = (1...3).map {
            var summary = CheckSummary(check, schema: "v2", at: ServerTime(milliseconds: Int64($0) * 86_400_000))
            (summary.failing, summary.possible, summary.unsynced) = ($0 * 10, 0, nil)
            return summary
        }
        let report = CheckResult(check, policy: FailurePolicy(), history: CheckHistory(runs)).report
        let series = try #require(report.figures.series.first)
        #expect(series.lines.map(\.name) == ["would stop syncing", "might stop syncing"])
        #expect(series.lines[0].values == [10, 20, 30])
        #expect(HTMLReport(report).text.contains("would stop syncing: from 10 to 30, at most 30"))
        let first = CheckResult(check, policy: FailurePolicy(), history: CheckHistory([runs[0]]))
        #expect(first.report.figures.series.isEmpty)
    }

    @Test func aLineBreaksWhereThereIsNoValue() {
        let series = Report.Series(
            title: "t", unit: "u", lines: [.init(name: "n", level: .notice, values: [1, 2, nil, 4, nil])],
            points: ["a", "b", "c", "d", "e"])
        let html = HTMLFigures.series(series, id: "s").text
        #expect(html.contains(#"<path class="line notice" d="M0 193.6L250 147.2"/>"#))
        #expect(html.matches(of: #/line dot notice" d="M([0-9.]+) /#).map(\.output.1) == ["750"])
        #expect(html.matches(of: /<td class="number">([^<]+)</).map(\.output.1) == ["1", "2", "-", "4", "-"])
        #expect(html.contains("n <strong>-</strong>"))
    }

    @Test func jsonLinesNameWhatAFindingIsOf() throws {
        let lines = CheckResult(try .fixture(), policy: FailurePolicy()).json.lines.split(separator: "\n")
        let records = try lines.map { try BSONDocument(extendedJSON: String($0)) }
        #expect(
            records.map { $0["record"]?.text } == [
                "header", "collection", "finding", "finding", "collection", "note", "result",
            ])
        #expect(records[0]["command"] == "check" && records[0]["tool_version"] == .string(Release.version))
        #expect(records[2]["database"] == "app" && records[2]["collection"] == "Person")
        #expect(records[2]["rule"] == "required-missing" && records[2]["documents"] == 1_023)
        #expect(records[6]["band"] == "sync_will_stop")
    }

    /// Names and values that have a meaning in an output format are escaped.
    @Test(arguments: [
        "</script><script>x</script>", "{{headline}}", "a|b", "\u{1B}[2J", "\u{202E}x", "::error::x", "`x`", "<!--",
        "]]>", "&amp;",
    ])
    func namesStayNames(_ name: String) throws {
        var check = try CheckReport.fixture()
        check.collections[0].groups[0].violation = Violation(
            path: SchemaPath([.field(name)]), rule: Rule.requiredMissing.code, level: .certain, expected: name,
            found: name)
        check.notes = [name]
        let report = CheckResult(check, policy: FailurePolicy()).report
        let html = HTMLReport(report).text
        #expect(!html.contains("<script") && !html.contains("<!--"))
        #expect(html.contains(Markup.line(name)))
        let markdown = MarkdownReport(report).text
        #expect(!markdown.contains("\u{1B}") && !markdown.contains("\u{202E}"))
        let rows = markdown.split(separator: "\n").filter { $0.hasPrefix("| `app.Person`") }
        // A vertical bar in a name is escaped, so that each row has as many cells as the head of the table.
        #expect(rows.count == 2 && rows.allSatisfy { $0.replacing("\\|", with: "").count { $0 == "|" } == 9 })
        for line in GitHubAnnotations(report).text.split(separator: "\n") {
            #expect(
                line.hasPrefix("::error ") || line.hasPrefix("::warning ") || line.hasPrefix("::notice ")
                    || line == report.headline)
        }
    }
}

/// Tests the timeline of a run: how many documents it processed in each interval, and when it waited.
@Suite struct RunTimelineTests {
    @Test func aLongRunHasLongerStretches() {
        var timeline = RunTimeline()
        for second in 0..<1_000 { timeline.add(.chunk(documents: 10, modified: 10), at: Double(second)) }
        timeline.finish(at: 1_000)
        #expect(timeline.stretch == 8)
        #expect(timeline.documents.count == 126)
        #expect(timeline.documents.reduce(0, +) == 10_000)
        #expect(timeline.documents[..<125].allSatisfy { $0 == 80 })
    }

    @Test func aWaitLastsUntilTheRunContinues() {
        var timeline = RunTimeline()
        timeline.add(.chunk(documents: 5, modified: 5), at: 0.2)
        timeline.add(.waiting([]), at: 1)
        timeline.add(.continuing(seconds: 2.5), at: 3.5)
        timeline.add(.waiting([]), at: 4)
        timeline.finish(at: 6)
        #expect(timeline.waits.map(\.from) == [1, 4])
        #expect(timeline.waits.map(\.to) == [3.5, 6])
        #expect(timeline.documents == [5] + Array(repeating: 0, count: 12))
    }
}
