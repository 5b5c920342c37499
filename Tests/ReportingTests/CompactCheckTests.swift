import BSON
import Checking
import Reporting
import ServerSchema
import Testing

/// Tests that a check fits on few lines of 80 columns, however many findings and collections it has.
@Suite struct CompactCheckTests {
    /// Returns a check with findings in the first collections of several, as evenly as possible.
    private func check(_ findings: Int, in failing: Int, of all: Int, named name: String = "") -> CheckResult {
        let collections = (0..<all).map { number -> CheckReport.Collection in
            var counts = DocumentCounts()
            counts.read = 9_000
            let share = number < failing ? findings / failing + (number < findings % failing ? 1 : 0) : 0
            let groups = (0..<share).map { finding in
                let id = BSONValue.objectID(ObjectID(high: UInt64(number), low: UInt32(finding)))
                return ViolationGroup(
                    violation: Violation(
                        path: SchemaPath([.field("field\(finding)")]), rule: Rule.requiredMissing.code,
                        level: .certain, expected: "string", found: "missing"),
                    count: 100, sampleIDs: [id, 2, 3], filter: [:], filterIsExact: true)
            }
            (counts.certain, counts.unexcepted.certain) = (share, share)
            return CheckReport.Collection(
                namespace: Namespace(database: "app", collection: "Collection\(name)\(number)"), counts: counts,
                estimatedCount: 9_000, groups: groups)
        }
        var report = CheckReport(
            source: "mongodb://db.example.net/", collections: collections, ledger: nil, duration: .seconds(1))
        report.rules.dialect = .jsonSchema
        return CheckResult(report, policy: FailurePolicy(), next: "shipshape plan schemas --out jobs")
    }

    private func lines(_ result: CheckResult, _ layout: TextLayout = TextLayout(width: 80)) -> [Substring] {
        result.text(layout).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    }

    @Test(arguments: [
        (3, 1, 1, 20), (3, 1, 40, 20), (3, 3, 40, 20), (17, 1, 1, 40), (17, 4, 40, 40), (17, 17, 40, 40),
        (60, 1, 1, 60), (60, 20, 40, 60), (60, 40, 40, 60), (400, 1, 1, 60), (400, 40, 40, 60),
    ])
    func aCheckFitsOnFewLines(_ findings: Int, _ failing: Int, _ all: Int, _ most: Int) {
        let result = check(findings, in: failing, of: all)
        let shown = lines(result)
        #expect(shown.count <= most, "\(shown.joined(separator: "\n"))")
        #expect(shown.allSatisfy { $0.count <= 80 })
        // Each finding is shown with a sample, or counted as one of the others.
        let rows = shown.count { $0.contains("required-missing") }
        #expect(rows == shown.count { $0.contains(/\ [0-9a-f]{24}$/) }, "\(shown.joined(separator: "\n"))")
        let others = shown.joined().firstMatch(of: /… and (\d+) more finding/).flatMap { Int($0.output.1) }
        #expect(rows + (others ?? 0) == findings)
        let silent = all - failing
        #expect(shown.count { $0.contains("read, all fit") } == (silent > 0 ? 1 : 0))
    }

    /// Names so long that the line of a collection continues below do not make the check longer.
    @Test(arguments: [(17, 17, 40), (400, 40, 60)]) func longNamesTakeNoMoreLines(
        _ findings: Int, _ failing: Int, _ most: Int
    ) {
        let shown = lines(check(findings, in: failing, of: 40, named: "WithANameOfSomeLengthThatContinues"))
        #expect(shown.count <= most, "\(shown.joined(separator: "\n"))")
        #expect(shown.contains { $0.contains("more finding") && $0.contains("more collection") })
    }

    /// A report file has all findings, with all their samples.
    @Test func aFileHasEveryFinding() {
        let kept = lines(check(400, in: 40, of: 40), .file)
        #expect(kept.count { $0.contains("required-missing") } == 400)
        #expect(kept.count { $0.contains("such as _id ObjectId(") && $0.hasSuffix("2, 3") } == 400)
    }

    @Test func quietShowsTheVerdictAlone() {
        var layout = TextLayout(width: 80)
        layout.isQuiet = true
        #expect(lines(check(3, in: 1, of: 1), layout) == ["3 documents do not fit."])
    }

    /// The collections with the most failing documents come first in the verdict and below it.
    @Test func theVerdictCountsByCollection() {
        let shown = lines(check(5, in: 2, of: 3))
        #expect(shown[0] == "5 documents do not fit: Collection0 3, Collection1 2.")
        #expect(shown.count { $0.contains("do not fit") } == 3, "the verdict stands there once")
    }
}
