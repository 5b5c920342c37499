import BSON
import ServerSchema
import Testing

@testable import Checking

/// Tests the parts, such as `3/8`, into which the user can divide a check, and the merge of the reports on these parts.
@Suite struct CheckPartTests {
    @Test(arguments: [
        ("1/1", "1/1"), ("3/8", "3/8"), ("1000/1000", "1000/1000"), ("0/3", nil), ("4/3", nil), ("1/1001", nil),
        ("1", nil),
        ("1/2/3", nil), ("-1/2", nil), ("a/b", nil), ("", nil),
    ]) func aPartIsANumberOfSeveral(_ text: String, _ shown: String?) {
        #expect(CheckPart(text).map { "\($0)" } == shown)
    }

    private let namespace = Namespace(database: "app", collection: "Pet")

    private func group(_ count: Int, _ ids: [BSONValue], rule: Rule = .typeMismatch) -> ViolationGroup {
        ViolationGroup(
            violation: Violation(
                path: .init([.field("age")]), rule: rule.code, level: .certain, expected: "int", found: "string"),
            count: count, newCount: count - 1, sampleIDs: ids, filter: ["age": ["$type": "string"]], filterIsExact: true
        )
    }

    private func report(
        _ part: String?, digest: String = "d", source: String = "mongodb://a/", groups: [ViolationGroup] = [],
        time: UInt64 = 7
    ) -> CheckReport {
        var counts = DocumentCounts()
        counts.read = 10
        counts.certain = groups.reduce(0) { $0 + $1.count }
        counts.unexcepted.certain = counts.certain
        var collection = CheckReport.Collection(
            namespace: namespace, counts: counts, estimatedCount: 25, groups: groups)
        collection.reading.clusterTime = ClusterTime(rawValue: time)
        if let part = part.flatMap({ CheckPart($0) }) { collection.reading.selection = .part(part) }
        var report = CheckReport(
            source: source, collections: [collection], ledger: LedgerCount(entries: 5), limit: 100, notes: ["same"],
            duration: .seconds(2))
        report.part = part.flatMap { CheckPart($0) }.map { PartOfCheck($0, digest: digest, policy: FailurePolicy()) }
        return report
    }

    private func merge(_ reports: CheckReport...) throws(MergeError) -> CheckReport {
        try CheckReport(merging: reports.enumerated().map { ("r\($0 + 1).json", $1) })
    }

    @Test func countsAddUpAndSamplesAreTheFirstOfAll() throws {
        let merged = try merge(
            report("2/2", groups: [group(3, [2, 8, 9, 10, 11])], time: 8),
            report("1/2", groups: [group(1, [.integer(5)], rule: .requiredNull), group(4, [1, 3, 4, 6, 7])]))
        let collection = try #require(merged.collections.first)
        #expect(collection.counts.read == 20)
        #expect(collection.counts.certain == 8)
        #expect(collection.estimatedCount == 25)
        #expect(collection.groups.map(\.count) == [7, 1])
        #expect(collection.groups[0].newCount == 5)
        #expect(collection.groups[0].sampleIDs.compactMap(\.integer) == [1, 2, 3, 4, 6])
        #expect(merged.notes == ["same"])
        #expect(merged.part == nil)
        #expect(!merged.isPartial)
        #expect(merged.verdict.projected == 13)
        #expect(collection.reading.clusterTime == nil)
        #expect(collection.reading.missing.map(\.guarantee) == [.oneMoment])
    }

    @Test func onePartProvesNothing() {
        let part = report("1/2")
        #expect(part.isPartial)
        #expect(part.documentsSeverity == .unknown)
    }

    @Test func anIncompleteSetOfPartsIsRefused() {
        func refusal(_ reports: CheckReport...) -> String {
            do throws(MergeError) {
                _ = try CheckReport(merging: reports.enumerated().map { ("r\($0 + 1).json", $1) })
                return ""
            } catch { return error.description }
        }
        #expect(refusal() == "there is no report")
        #expect(refusal(report("1/2")) == "part 2 of 2 is missing: run check --part 2/2")
        #expect(refusal(report("3/4"), report("1/4")) == "parts 2, 4 of 4 are missing: run check --part 2/4")
        #expect(
            refusal(report("1/2"), report("1/2")) == "r1.json and r2.json are both part 1/2: give each part once")
        #expect(
            refusal(report("1/2"), report("2/3"))
                == "r2.json is part 2/3, and r1.json part 1/2: give the parts of one check")
        #expect(refusal(report("1/2"), report(nil)).hasPrefix("r2.json is the report of a whole check"))
        #expect(refusal(report("1/2"), report("2/2", digest: "e")).contains("different schemas or flags"))
        #expect(
            refusal(report("1/2"), report("2/2", source: "mongodb://b/"))
                == "r2.json is from mongodb://b/, and r1.json from mongodb://a/")
    }
}
