/// The numbers of documents at which a sync engine halts, that it drops, or of which it loses values.
///
/// Each document counts at most once, by its worst certain finding.
public struct EngineCounts: Hashable, Sendable, Codable {
    /// The number of documents that halt the engine for all users.
    public var halting = 0
    /// The number of documents that never arrive at the clients.
    public var dropped = 0
    /// The number of documents that arrive with a value missing, cut off, or replaced, for example by 0 or null.
    public var losing = 0
    /// The number of values that the documents counted in ``losing`` lose.
    public var values = 0
    /// The number of documents counted in ``halting`` for which exceptions cover every finding that halts the engine.
    public var haltingExcepted = 0

    /// Creates counts of zero.
    public init() {}

    mutating func add(_ other: EngineCounts, times: Int) {
        halting += other.halting * times
        dropped += other.dropped * times
        losing += other.losing * times
        values += other.values * times
        haltingExcepted += other.haltingExcepted * times
    }

    /// Adds a finding of the only document that is counted: its worst certain finding decides where it counts.
    mutating func add(_ rule: EngineRule, _ level: Level, isExcepted: Bool) {
        guard level == .certain else { return }
        let values = values + (rule.outcome == .lostValue ? 1 : 0)
        let isHaltingExcepted = (halting == 0 || haltingExcepted == 1) && (rule.outcome != .halts || isExcepted)
        if halting == 1 || rule.outcome == .halts {
            self = EngineCounts()
            (halting, haltingExcepted) = (1, isHaltingExcepted ? 1 : 0)
        } else if dropped == 1 || rule.outcome == .dropped {
            self = EngineCounts()
            dropped = 1
        } else if values > 0 {
            (losing, self.values) = (1, values)
        }
    }
}
