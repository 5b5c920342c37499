/// The numbers of documents by their verdicts under two schemas: the new one and the active one.
///
/// A document that fails, or might fail, under at least one of the two schemas is counted exactly once.
public struct VerdictChanges: Hashable, Sendable, Codable {
    /// The number of documents that are certain to fail under the new schema, but not under the active one.
    public var newlyFailing = 0
    /// The number of documents that are certain to fail under both schemas.
    public var alreadyFailing = 0
    /// The number of documents that are certain to fail under the active schema, and that sync under the new one.
    public var healed = 0
    /// The number of documents that might fail under the new schema, and that sync under the active one.
    public var newlyPossible = 0
    /// The number of documents that might fail under the new schema, and that fail or might fail under the active one.
    public var alreadyPossible = 0
    /// The number of documents in ``alreadyPossible`` that are certain to fail under the active schema.
    ///
    /// Reports do not show this number.
    package var nowOnlyPossible = 0
    /// The number of documents that might fail under the active schema, and that sync under the new one.
    public var possiblyHealed = 0

    /// Creates counts of zero.
    public init() {}

    /// Adds the counts of other documents, such as those that another thread read.
    public static func += (left: inout VerdictChanges, right: VerdictChanges) { left.add(right, times: 1) }

    mutating func add(_ other: VerdictChanges, times: Int) {
        newlyFailing += other.newlyFailing * times
        alreadyFailing += other.alreadyFailing * times
        healed += other.healed * times
        newlyPossible += other.newlyPossible * times
        alreadyPossible += other.alreadyPossible * times
        nowOnlyPossible += other.nowOnlyPossible * times
        possiblyHealed += other.possiblyHealed * times
    }

    mutating func add(from active: Verdict, to new: Verdict) {
        switch (active, new) {
        case (.certain, .certain): alreadyFailing += 1
        case (_, .certain): newlyFailing += 1
        case (.fits, .possible), (.warning, .possible): newlyPossible += 1
        case (_, .possible):
            alreadyPossible += 1
            if active == .certain { nowOnlyPossible += 1 }
        case (.certain, _): healed += 1
        case (.possible, _): possiblyHealed += 1
        default: break
        }
    }

    /// Whether a document with the verdicts `active` and `new` newly fails, or newly might fail.
    static func isNew(from active: Verdict, to new: Verdict) -> Bool {
        new >= .possible && (new == .certain ? active < .certain : active < .possible)
    }
}

/// The active schema of one collection, or the reason why the check has none.
public enum ActiveSchema: Sendable {
    /// There is no active schema to compare with: only the new schema judges.
    case notAsked
    /// The active schema does not cover the collection: every document that fails under the new schema newly fails.
    case notCovered
    /// The active schema covers the collection.
    case covered(CompiledSchema)
}
