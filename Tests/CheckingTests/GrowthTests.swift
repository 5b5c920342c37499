import BSON
import ServerSchema
import Synchronization
import Testing

@testable import Checking

/// Tests that the memory of a check is bounded for large collections; `Benchmarks/growth.md` has the numbers.
@Suite struct GrowthTests {
    /// A schema that allows only the field `_id`, so that each other field of a document is a separate finding.
    private let closed = CompiledSchema([:]) { $0.additionalProperties = .forbidden }

    /// Returns a document with 100 of the 100,000 possible fields.
    private func document(_ number: Int) -> BSONDocument {
        BSONDocument(
            [("_id", .integer(number))] + (0..<100).map { ("f\((number * 100 + $0) % 100_000)", BSONValue.int(1)) })
    }

    @Test func aTallyOfAMillionFindingsAtAHundredThousandPlacesIsBounded() throws {
        var options = Tally.Options()
        options.keepsContributions = true
        var tally = Tally(closed, options: options)
        for number in 0..<10_000 { try tally.add(document(number).view) }
        #expect(tally.counts.read == 10_000)
        #expect(tally.counts.possible == 10_000)
        #expect(tally.groups.count == options.maximumGroupCount)
        #expect(tally.groups.allSatisfy { $0.samples.count <= options.sampleCount })
        // Every finding is counted, either in a group or in the overflow.
        #expect(tally.groups.reduce(0) { $0 + $1.count } + tally.overflowCount == 1_000_000)
    }

    @Test func mergedTalliesAreBoundedAsOneIs() throws {
        var merged = Tally(closed)
        for part in 0..<4 {
            var tally = Tally(closed)
            for number in part * 250..<(part + 1) * 250 { try tally.add(document(number).view) }
            merged.merge(tally)
        }
        #expect(merged.groups.count == merged.options.maximumGroupCount)
        #expect(merged.groups.reduce(0) { $0 + $1.count } + merged.overflowCount == 100_000)
    }

    @Test func longNamesAndValuesAreNotKept() throws {
        var options = Tally.Options()
        options.keepsValues = true
        var tally = Tally(closed, options: options)
        let long = String(repeating: "x", count: 100_000)
        for number in 0..<100 {
            let name = "\(number)\(long)"
            let fields: [(String, BSONValue)] = [("_id", .string(name)), (name, 1), ("short", .string(long))]
            try tally.add(BSONDocument(fields).view)
        }
        #expect(tally.groups.count == 2)
        #expect(tally.groups.allSatisfy { $0.samples.isEmpty })
        #expect(tally.overflowCount == 100)
    }

    @Test func everyFailureIsReportedAndNoneIsKept() throws {
        var tally = Tally(closed)
        let reported = Reported()
        tally.onFailure = { reported.add($0.violations.count) }
        for number in 0..<1_000 { try tally.add(document(number).view) }
        #expect(reported.documents == 1_000)
        #expect(reported.violations == 100_000)
    }

    @Test func theWaysInWhichDocumentsFailTogetherAreBounded() {
        var table = ContributionTable()
        // Each contribution lists a hundred groups of violations, so the table reaches its limit on groups before its
        // limit on contributions.
        for number in 0..<Int32(ContributionTable.maximumCount) {
            var contribution = Contribution(verdict: .certain)
            contribution.groups = Array(number..<number + 100)
            let index = table.number(of: contribution)
            let isKept = (Int(number) + 1) * 100 <= ContributionTable.maximumGroupCount
            #expect((index != ContributionTable.unknown) == isKept)
        }
        var small = ContributionTable()
        for number in 0..<2 * Int32(ContributionTable.maximumCount) {
            var contribution = Contribution(verdict: .certain)
            contribution.groups = [number]
            _ = small.number(of: contribution)
        }
        var last = Contribution(verdict: .certain)
        last.groups = [-1]
        #expect(small.number(of: last) == ContributionTable.unknown)
    }
}

/// A counter of failing documents and of their violations.
private final class Reported: Sendable {
    private let counts = Mutex((documents: 0, violations: 0))

    var documents: Int { counts.withLock { $0.documents } }
    var violations: Int { counts.withLock { $0.violations } }

    func add(_ violations: Int) { counts.withLock { $0 = ($0.documents + 1, $0.violations + violations) } }
}
