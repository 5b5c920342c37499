import BSON
import Checking
import Foundation
import ServerSchema
import Testing

@testable import Reporting

/// Tests the stored summaries of earlier checks, and how they are shown.
@Suite struct CheckHistoryTests {
    private func summary(
        _ second: Int, _ findings: [(String, Int)], source: String = "here", collections: [String] = ["app.A"]
    ) -> CheckSummary {
        CheckSummary(
            at: ServerTime(milliseconds: Int64(second) * 1_000), source: source, schema: "v2", documents: 100,
            failing: findings.reduce(0) { $0 + $1.1 }, possible: 0, unsynced: nil, headroom: 10,
            collections: collections,
            findings: findings.map {
                CheckSummary.Finding(collection: "app.A", rule: "type-mismatch", path: $0.0, documents: $0.1)
            })
    }

    @Test func aStoredSummaryIsReadUnchanged() throws {
        let kept = CheckSummary(try .fixture(), schema: "v2 \"x\"", at: ServerTime(milliseconds: 1_763_752_811_123))
        #expect(try CheckSummary(parsing: kept.text) == kept)
        #expect(kept.failing == 1_000 && kept.possible == 5 && kept.unsynced == 99_000 && kept.headroom == 999)
        #expect(kept.findings.map(\.path) == ["blobs[]", "email"])
        // The summary counts documents, and contains no `_id`s.
        #expect(!kept.text.contains("507f1f77bcf86cd799439011"))
    }

    @Test(arguments: [
        ("", "it is not a complete JSON object"), ("{\"a\":", "it is not a complete JSON object"),
        ("[1]", "it is not a complete JSON object"), ("{\"record\": \"header\"}", "it is not the summary of a check"),
        (
            "{\"record\": \"check_summary\", \"schema_version\": 2}", "another version of shipshape wrote it"
        ),
        ("{\"record\": \"check_summary\", \"schema_version\": 1}", "a part of it is missing"),
    ])
    func anInvalidSummaryIsNamed(_ text: String, _ reason: String) {
        #expect {
            _ = try CheckSummary(parsing: text)
        } throws: {
            "\($0)" == reason
        }
    }

    @Test func aFindingIsNewGrownShrunkOrGone() throws {
        let history = CheckHistory([
            summary(2, [("new", 3), ("grown", 9), ("shrunk", 2), ("same", 4)]),
            summary(1, [("grown", 1), ("shrunk", 5), ("same", 4), ("gone", 7)]),
        ])
        let difference = try #require(history.difference)
        #expect(
            difference.changes.map { "\($0.kind) \($0.finding.path) \($0.before) \($0.now)" } == [
                "new new 0 3", "grown grown 1 9", "shrunk shrunk 5 2", "gone gone 7 0",
            ])
        #expect(
            difference.sentence == "Since the check of 1970-01-01 00:00:01 UTC: 1 new, 1 grown, 1 shrunk, 1 gone.")
        #expect(history.difference(at: 0) == nil)
    }

    @Test func onlyChecksOfTheSameSourceAreHeldAgainstEachOther() throws {
        let history = CheckHistory([
            summary(1, [("a", 1)]), summary(2, [("b", 1)], source: "there"), summary(3, [("a", 1)]),
        ])
        #expect(history.difference?.sentence == "Nothing changed since the check of 1970-01-01 00:00:01 UTC.")
    }

    @Test func aCollectionThatWasNotReadIsNotGone() {
        let history = CheckHistory([summary(1, [("a", 1)]), summary(2, [], collections: ["app.B"])])
        #expect(history.difference?.changes.isEmpty == true)
    }

    @Test func aCheckSaysWhatChangedSinceItsVerdict() throws {
        let check = try CheckReport.fixture()
        let now = CheckSummary(check, schema: "v2", at: ServerTime(milliseconds: 2_000))
        var before = now
        before.at = ServerTime(milliseconds: 1_000)
        before.findings.removeFirst()
        let result = CheckResult(check, policy: FailurePolicy(), history: CheckHistory([before, now]))
        let blocks = result.text(.file).components(separatedBy: "\n\n")
        #expect(blocks[1].hasPrefix("  would stop syncing  "), "\(blocks)")
        #expect(blocks[2].hasPrefix("Since the check of 1970-01-01 00:00:01 UTC: 1 new,"), "\(blocks)")
        #expect(blocks[2].contains("new          0    5  app.Person  binary-subtype  blobs[]"), "\(blocks[2])")
        #expect(MarkdownReport(result.report).text.contains("1 new, 0 grown"))
        #expect(HTMLReport(result.report).text.contains("1 new, 0 grown"))
        #expect(result.json.text.contains("\"since\": \"1970-01-01T00:00:01Z\""))
        before.findings = now.findings
        let same = CheckResult(check, policy: FailurePolicy(), history: CheckHistory([before, now]))
        #expect(same.text(.file).contains("\nNote: Nothing changed since the check of 1970-01-01 00:00:01 UTC.\n"))
        #expect(MarkdownReport(same.report).text.contains("Nothing changed since"))
    }

    @Test func theCourseIsASparkline() {
        #expect(Sparkline.text([0, 1, nil, 50, 100], isPlain: false) == "▁▂ ▅█")
        #expect(Sparkline.text([0, 1, nil, 50, 100], isPlain: true) == "_. =@")
        #expect(Sparkline.text([0, 0], isPlain: false) == "▁▁")
    }

    @Test func theTrendShowsTheLastChecks() throws {
        let history = CheckHistory((1...40).map { summary($0, [("a", $0)]) }, notes: ["passed over"])
        let result = HistoryResult(history, place: "history", last: 3)
        let lines = result.text(TextLayout(width: 200)).split(separator: "\n")
        #expect(
            lines[0] == "40 documents would stop syncing; 2 checks ago, at 1970-01-01 00:00:38 UTC, there were 38.")
        #expect(lines[1] == "  would stop syncing  ███  40", "\(lines)")
        // Five lines name a time: the headline, the title of the differences, and the rows of the three checks.
        #expect(lines.count { $0.contains("1970-01-01 00:00:") } == 5)
        #expect(lines.contains("Note: passed over"))
        // The first check in the list is also compared with its predecessor, although the list does not show the
        // predecessor.
        #expect(result.json.text.contains("\"grown\": 1"))
        #expect(!result.json.text.contains("\"difference\": null"))
        #expect(HTMLReport(result.report).text.contains("would stop syncing: from 38 to 40"))
        // The headline uses the words for the dialect of the schema, here Prisma.
        var last = summary(41, [("a", 7)])
        last.dialect = .prisma
        #expect(try CheckSummary(parsing: last.text) == last)
        let ofPrisma = HistoryResult(CheckHistory([last]), place: "history", last: 3).text(.file)
        #expect(ofPrisma.hasPrefix("7 documents could not be read in the only check so far"), "\(ofPrisma)")
        #expect(ofPrisma.contains("would fail  might fail"), "\(ofPrisma)")
        let none = HistoryResult(CheckHistory([]), place: "history", last: 3)
        #expect(none.text(.file) == "No check has been kept in history yet.\n")
    }
}
