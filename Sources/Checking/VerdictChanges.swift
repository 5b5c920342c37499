/// How documents fare under a new schema beside how they fare under the active one.
///
/// A document that fails, or may fail, under one of the two is counted exactly once.
public struct VerdictChanges: Hashable, Sendable, Codable {
    /// Certain under the new schema, and not under the active one.
    public var newlyFailing = 0
    /// Certain under both.
    public var alreadyFailing = 0
    /// Certain under the active schema; nothing is wrong under the new one.
    public var healed = 0
    /// Possible under the new schema; nothing is wrong under the active one.
    public var newlyPossible = 0
    /// Possible under the new schema, possible or certain under the active one.
    public var alreadyPossible = 0
    /// Possible under the active schema; nothing is wrong under the new one.
    public var possiblyHealed = 0

    /// Nothing counted.
    public init() {}

    /// Adds what another reader counted.
    public static func += (left: inout VerdictChanges, right: VerdictChanges) {
        left.newlyFailing += right.newlyFailing
        left.alreadyFailing += right.alreadyFailing
        left.healed += right.healed
        left.newlyPossible += right.newlyPossible
        left.alreadyPossible += right.alreadyPossible
        left.possiblyHealed += right.possiblyHealed
    }

    mutating func add(from active: Verdict, to new: Verdict) {
        switch (active, new) {
        case (.certain, .certain): alreadyFailing += 1
        case (_, .certain): newlyFailing += 1
        case (.fits, .possible), (.warning, .possible): newlyPossible += 1
        case (_, .possible): alreadyPossible += 1
        case (.certain, _): healed += 1
        case (.possible, _): possiblyHealed += 1
        default: break
        }
    }

    /// Whether a document that fares so begins to fail, or to be one that may fail.
    static func isNew(from active: Verdict, to new: Verdict) -> Bool {
        new >= .possible && (new == .certain ? active < .certain : active < .possible)
    }
}

/// What is known of the schema that is live now, for one collection.
public enum ActiveSchema: Sendable {
    /// Nothing was asked: only the new schema judges.
    case notAsked
    /// It does not cover the collection: what fails under the new schema fails anew.
    case notCovered
    /// It covers the collection.
    case covered(CompiledSchema)
}
