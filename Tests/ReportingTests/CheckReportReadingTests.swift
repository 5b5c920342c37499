import BSON
import Checking
import Reporting
import Testing

/// Tests the lines of a report that say how the documents were read.
@Suite struct CheckReportReadingTests {
    private func report(_ change: (inout CheckReport.Collection.Reading) -> Void) -> CheckReport {
        var counts = DocumentCounts()
        counts.read = 10
        var collection = CheckReport.Collection(
            namespace: Namespace(database: "prod", collection: "Person"), counts: counts, estimatedCount: 12)
        change(&collection.reading)
        return CheckReport(source: "x", collections: [collection], ledger: nil, duration: .seconds(1))
    }

    private func text(_ report: CheckReport) -> String {
        CheckResult(report, policy: FailurePolicy()).text(TextLayout())
    }

    @Test func theMomentIsStated() {
        let report = report {
            $0.clusterTime = ClusterTime(rawValue: 1_763_752_811 << 32 | 3)
            $0.changedCount = 4
        }
        let text = self.text(report)
        #expect(
            text.contains(", consistent as of 2025-11-21 19:20:11 UTC; 4 documents changed during the scan.\n"))
        #expect(CheckReportJSON(report).text.contains("\"t\": 1763752811"))
        #expect(text.hasPrefix("0 documents would stop syncing.\n"))
    }

    @Test func missingGuaranteesAreShown() {
        let report = report { $0.missing = [MissingGuarantee(.oneMoment, "it is a view")] }
        let text = self.text(report)
        #expect(text.contains("Not a point-in-time result: it is a view.\n"))
        #expect(CheckReportJSON(report).text.contains("\"guarantee\": \"one_moment\""))
    }

    @Test(arguments: [CheckReport.Collection.Selection.sample(10), .matching(["a": 1])])
    func aPartIsNeverSafe(_ selection: CheckReport.Collection.Selection) {
        let report = report { $0.selection = selection }
        #expect(report.verdict.band == .unproven)
        #expect(text(report).hasPrefix("Nothing found, but not every document was read"))
        #expect(CheckReportJSON(report).text.contains("\"band\": \"unproven\""))
    }

    @Test func countsOfAPartAreLowerBounds() {
        var report = report { $0.selection = .sample(10) }
        report.collections[0].counts.certain = 3
        report.collections[0].counts.unexcepted.certain = 3
        report = CheckReport(
            source: "x", collections: report.collections, ledger: LedgerCount(entries: 7), duration: .seconds(1))
        let text = self.text(report)
        #expect(text.hasPrefix("At least 3 documents would stop syncing.\n"))
        #expect(text.contains("at least 10 documents will not sync (7 in the ledger now); sync stops at 100,000"))
    }

    @Test func anotherNameIsShownInAdditionToTheSchemas() {
        let report = report { $0.namespace = Namespace(database: "copy", collection: "Person2") }
        #expect(text(report).contains("prod.Person (read from copy.Person2): 10 documents read of"))
    }

    @Test(arguments: [
        (0, "1970-01-01 00:00:00 UTC"), (951_782_400, "2000-02-29 00:00:00 UTC"),
        (4_102_444_799, "2099-12-31 23:59:59 UTC"),
    ])
    func momentsAreDates(_ seconds: UInt64, _ text: String) {
        #expect(ClusterTime(rawValue: seconds << 32).description == text)
    }
}
