/// The numbers of documents at which a sync engine halts, that it drops, or of which it loses values.
///
/// Each document counts at most once, by its worst certain finding.
public struct EngineCounts: Hashable, Sendable, Codable {
    /// The number of documents that halt the engine for all users.
    public var halting = 0
    /// The number of documents that never arrive at the clients.
    public var dropped = 0
    /// The number of documents that arrive at the clients with a value missing, cut off, or replaced, for example by 0
    /// or null.
    public var losing = 0
    /// The number of values that the documents counted in ``losing`` lose.
    public var values = 0
    /// The number of documents counted in ``halting`` for which exceptions cover every finding that halts the engine.
    public var haltingExcepted = 0

    /// Creates counts of zero.
    public init() {}

    /// Whether the engine halts at no document, drops none, and loses no value.
    public var isEmpty: Bool { halting + dropped + losing == 0 }

    /// Adds the counts of other documents, such as those that another thread read.
    public static func += (left: inout EngineCounts, right: EngineCounts) { left.add(right, times: 1) }

    mutating func add(_ other: EngineCounts, times: Int) {
        halting += other.halting * times
        dropped += other.dropped * times
        losing += other.losing * times
        values += other.values * times
        haltingExcepted += other.haltingExcepted * times
    }

    init(_ effect: EngineEffect) {
        switch effect.outcome {
        case .halts:
            halting = 1
            haltingExcepted = effect.isHaltingUnexcepted ? 0 : 1
        case .dropped: dropped = 1
        case .lostValue: (losing, values) = (1, Int(effect.values))
        case .changed, nil: break
        }
    }
}

/// The effect that one document has in a sync engine, computed from the document's certain findings.
struct EngineEffect: Hashable, Sendable {
    /// The worst outcome of the document's certain findings; `nil` if it has none.
    private(set) var outcome: EngineRule.Outcome?
    /// The number of certain findings because of which the engine loses a value of the document.
    private(set) var values: Int32 = 0
    /// Whether the engine halts because of at least one finding that no exception covers.
    private(set) var isHaltingUnexcepted = false

    mutating func add(_ rule: EngineRule, _ level: Level, isExcepted: Bool) {
        guard level == .certain else { return }
        outcome = max(outcome ?? rule.outcome, rule.outcome)
        if rule.outcome == .lostValue { values += 1 }
        if rule.outcome == .halts, !isExcepted { isHaltingUnexcepted = true }
    }
}
