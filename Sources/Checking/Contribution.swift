public import BSON

/// The counts that one document added to a tally, kept so that they can be subtracted again.
struct Contribution: Hashable, Sendable {
    var verdict: Verdict
    /// The document's verdict under the active schema; `nil` if there is no active schema.
    var active: Verdict?
    var isInLedger = false
    /// Whether the document counts as ``DocumentCounts/unfound``.
    var isUnfound = false
    /// The verdict of the worst finding in the document that no exception covers; `fits` if there is none.
    var unexcepted = Verdict.fits
    /// The counts of the document alone by what the engine does with it.
    var engine = EngineCounts()
    /// The indexes of the tally's groups that count the document.
    var groups: [Int32] = []
    /// The number of the document's findings that were not grouped, because there were too many groups or a field's
    /// name was too long.
    var overflowCount = 0

    /// Adds the consequences of a finding; `rule` is that of the engine which the document breaks, if any.
    mutating func add(_ level: Level, _ rule: EngineRule?, isExcepted: Bool) {
        if !isExcepted { unexcepted = max(unexcepted, Verdict(level)) }
        if let rule { engine.add(rule, level, isExcepted: isExcepted) }
    }

    /// Whether a client can read the document.
    var isReadable: Bool { verdict < .certain || isUnfound }

    /// Whether the document newly fails, or newly might fail, compared with the active schema.
    var isNew: Bool { active.map { VerdictChanges.isNew(from: $0, to: verdict) } ?? false }
}

/// A table that numbers the distinct contributions of documents to a tally.
///
/// There are few distinct contributions, because many documents have the same findings.
struct ContributionTable: Sendable {
    /// The largest number of contributions that are kept; each is one combination of findings.
    static var maximumCount: Int { 50_000 }
    /// The largest total length of ``Contribution/groups`` in all kept contributions.
    ///
    /// The limit ``maximumCount`` alone would not bound the memory, because a single document may be in every group.
    static var maximumGroupCount: Int { 1_000_000 }
    /// The number that the table returns for every contribution that it did not keep.
    static var unknown: UInt32 { .max }

    private var numbers: [Contribution: UInt32] = [:]
    private var contributions = Self.fitting
    private var groupCount = 0

    /// The contributions of documents without findings, which all tables share.
    private static let fitting = [nil, Verdict.fits, .warning, .possible, .certain].map { active in
        Contribution(verdict: .fits, active: active)
    }

    /// Returns the number for the contribution of a document without findings.
    ///
    /// These numbers are fixed, so the caller need not look up the contribution in the table.
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

/// A document that fails, or might fail, with its violations.
public struct FailingDocument: Hashable, Sendable {
    /// The document's collection.
    public var namespace: Namespace
    /// The document's `_id`; ``BSONValue/undefined`` if it has none.
    public var id: BSONValue
    /// The document's verdict under the schema.
    public var verdict: Verdict
    /// The document's verdict under the active schema; `nil` if there is no active schema to compare with.
    public var active: Verdict?
    /// Whether the ledger of unsynced documents already lists the document.
    public var isInLedger: Bool
    /// Whether exceptions cover all findings that make the document fail.
    public var isExcepted: Bool
    /// The document's violations; equal ones are listed once.
    public var violations: [Violation]
}
