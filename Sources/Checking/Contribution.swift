public import BSON

/// What one document added to a tally, so that it can be taken back.
struct Contribution: Hashable, Sendable {
    var verdict: Verdict
    /// How the document fares under the active schema; `nil` when there is none.
    var active: Verdict?
    var isInLedger = false
    /// The worst that no exception covers.
    var unexcepted = Verdict.fits
    /// The groups that it is counted in.
    var groups: [Int32] = []
    /// Its findings that found no room among the groups.
    var overflowCount = 0

    /// Whether the document begins to fail, or to be one that may fail.
    var isNew: Bool { active.map { VerdictChanges.isNew(from: $0, to: verdict) } ?? false }
}

/// Numbers the distinct contributions of a tally, of which there are few.
struct ContributionTable: Sendable {
    /// The distinct ones that are kept: the ways in which documents fail together.
    static var maximumCount: Int { 50_000 }
    /// The groups that all of them together name: one document alone may be in every group of a tally.
    static var maximumGroupCount: Int { 1_000_000 }
    /// The number of those that found no room.
    static var unknown: UInt32 { .max }

    private var numbers: [Contribution: UInt32] = [:]
    private var contributions: [Contribution] = []
    private var groupCount = 0

    init() {
        for active in [nil, Verdict.fits, .warning, .possible, .certain] {
            contributions.append(Contribution(verdict: .fits, active: active))
        }
    }

    /// The number of a document in which nothing is found: known without a look into the table.
    @inline(__always)
    static func numberOfFitting(active: Verdict?) -> UInt32 { active.map { UInt32($0.rawValue) + 1 } ?? 0 }

    mutating func number(of contribution: Contribution) -> UInt32 {
        if let known = numbers[contribution] { return known }
        let groupCount = groupCount + contribution.groups.count
        guard contributions.count < Self.maximumCount, groupCount <= Self.maximumGroupCount else {
            return Self.unknown
        }
        self.groupCount = groupCount
        let number = UInt32(contributions.count)
        numbers[contribution] = number
        contributions.append(contribution)
        return number
    }

    subscript(number: UInt32) -> Contribution? { number == Self.unknown ? nil : contributions[Int(number)] }
}

/// A document that fails, or may fail, with all that is wrong with it.
public struct FailingDocument: Hashable, Sendable {
    /// Its collection.
    public var namespace: Namespace
    /// Its `_id`; ``BSONValue/undefined`` when it has none.
    public var id: BSONValue
    /// How it fares under the schema.
    public var verdict: Verdict
    /// How it fares under the active schema; `nil` when there is none to compare with.
    public var active: Verdict?
    /// Whether the ledger records it already.
    public var isInLedger: Bool
    /// Whether exceptions cover all for which it fails.
    public var isExcepted: Bool
    /// What is wrong, each finding once.
    public var violations: [Violation]
}
