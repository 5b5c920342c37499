import Concurrency
package import LocatedYAML

/// A limit that a job file states below `limits`: its name, and how its value is read and written.
///
/// ``all`` is the only list of limits. The parser of job files, `tune` and `status` use it, and the tests compare the
/// documentation with it.
package struct Limit: Sendable {
    /// The path below `limits`, such as `nice` or `chunk.documents`.
    package let name: String
    /// The former name, which job files may still use.
    package let alias: String?
    private let reader: @Sendable (YAMLNode, _ key: String, inout Job.Limits) throws(JobError) -> Void
    private let speller: @Sendable (Job.Limits) -> String

    private init<Value>(
        _ name: String, alias: String? = nil, _ value: any WritableKeyPath<Job.Limits, Value> & Sendable,
        _ kind: LimitKind<Value>
    ) {
        (self.name, self.alias) = (name, alias)
        reader = { (node, key, limits) throws(JobError) in limits[keyPath: value] = try kind.read(key, node) }
        speller = { kind.text($0[keyPath: value]) }
    }

    /// Every limit.
    package static let all: [Limit] = [
        Limit("chunk.documents", \.chunkDocuments, .count(from: 1)),
        Limit("chunk.time", \.chunkTime, .chunkTime),
        Limit("chunk.bytes", \.chunkBytes, .size),
        Limit("concurrency", alias: "lanes", \.concurrency, .count(from: 1, to: Job.Limits.mostConcurrency)),
        Limit("unsynced", \.unsynced, .count(from: 1)),
        Limit("reserve", \.reserve, .reserve),
        Limit("nice", \.nice, .number(to: 100)),
        Limit("lag", \.throttle.lag, LimitKind.duration.orOff),
        Limit("flowControl", \.throttle.flowControl, LimitKind.duration.orOff),
        Limit("tickets", \.throttle.tickets, LimitKind.percent.orOff),
        Limit("cache.dirty", \.throttle.cacheDirty, LimitKind.percent.orOff),
        Limit("cache.used", \.throttle.cacheUsed, LimitKind.percent.orOff),
        Limit("oplog", \.throttle.oplog, LimitKind.duration.orOff),
        Limit("pause", \.throttle.pause, .pauses),
        Limit("ledgerLag", \.throttle.ledgerLag, .duration),
    ]

    /// The groups that can be `off` as a whole.
    private static let groupsThatCanBeOff: Set = ["cache"]

    /// Returns the limit of a name or former name.
    package static func named(_ name: String) -> Limit? { all.first { $0.name == name || $0.alias == name } }

    /// The limit's name within its group.
    private var key: String { name.split(separator: ".").last.map(String.init) ?? name }

    /// Returns the limit's value as a job file writes it.
    package func text(in limits: Job.Limits) -> String { speller(limits) }
}

extension Job.Limits {
    /// All limits by their names below `limits`, with their values as a job file writes them.
    package var entries: [(name: String, value: String)] { Limit.all.map { ($0.name, $0.text(in: self)) } }

    /// Reads the limits that a job file states; a limit that it does not state has its default.
    /// - Throws: ``JobError`` with line and column.
    package static func read(_ node: YAMLNode?) throws(JobError) -> Job.Limits {
        var limits = Job.Limits()
        guard let node else { return limits }
        try Limit.read(node, into: &limits)
        guard limits.ceiling > 0 else {
            let place = try node.members(of: "\"limits\"", allowed: Limit.topLevelKeys)["reserve"] ?? node
            throw JobError(
                "the reserve is not below the limit of \(limits.unsynced) unsynced documents: nothing could be written",
                at: place.location, isConfiguration: true)
        }
        return limits
    }
}

extension Limit {
    /// The keys that a job file may have below `limits`, each once.
    package static var topLevelKeys: [String] {
        var keys: [String] = []
        for limit in all {
            for name in [limit.name, limit.alias].compactMap(\.self) {
                let key = name.split(separator: ".")[0]
                if keys.last != String(key) { keys.append(String(key)) }
            }
        }
        return keys
    }

    fileprivate static func read(_ node: YAMLNode, into limits: inout Job.Limits) throws(JobError) {
        let members = try node.members(of: "\"limits\"", allowed: topLevelKeys)
        for limit in all where !limit.name.contains(".") {
            guard let (key, node) = try limit.member(of: members) else { continue }
            try limit.reader(node, key, &limits)
        }
        let groups = Dictionary(grouping: all.filter { $0.name.contains(".") }) {
            String($0.name.split(separator: ".")[0])
        }
        for (group, all) in groups.sorted(by: { $0.key < $1.key }) {
            guard let node = members[group] else { continue }
            if node.isOff, groupsThatCanBeOff.contains(group) {
                for limit in all { try limit.reader(node, limit.key, &limits) }
                continue
            }
            let members = try node.members(of: "\"\(group)\"", allowed: all.map(\.key))
            for limit in all {
                if let node = members[limit.key] { try limit.reader(node, limit.key, &limits) }
            }
        }
    }

    /// Returns the value that a file states for the limit, with the name that the file uses.
    /// - Throws: ``JobError`` if the file uses both the name and the former one.
    private func member(of members: YAMLMembers) throws(JobError) -> (key: String, YAMLNode)? {
        guard let alias, let old = members[alias] else { return members[name].map { (name, $0) } }
        if members[name] != nil { throw old.error("\"\(alias)\" is the former name of \"\(name)\": give one of them") }
        return (alias, old)
    }
}

/// The values at which a run waits; `nil` disables a reason.
package struct ThrottleLimits: Hashable, Sendable {
    /// The longest lag behind the primary, of a majority or of the slowest healthy secondary.
    package var lag: Duration? = .seconds(10)
    /// The longest time per second that all writers together may wait for flow control.
    package var flowControl: Duration? = .seconds(1)
    /// The largest share of the storage engine's execution tickets that may be in use, in percent.
    package var tickets: Int? = 80
    /// The largest share of the cache that may wait to be written to disk, in percent.
    ///
    /// At 20%, WiredTiger makes users' own operations write it.
    package var cacheDirty: Int? = 15
    /// The largest share of the cache that may be filled, in percent.
    ///
    /// WiredTiger fills it to 80% and, from 95%, makes users' own operations free it.
    package var cacheUsed: Int? = 95
    /// The shortest time that the oplog must reach back, once it is full.
    ///
    /// A sync translator or a change stream whose position falls off the end of the oplog cannot resume.
    package var oplog: Duration? = .seconds(3_600)
    /// The windows in which nothing is written.
    package var pause: [PauseWindow] = []
    /// The longest lag of the ledger after the writes.
    ///
    /// A repaired document keeps its reservation at least that long, because the ledger might still show it.
    package var ledgerLag: Duration = .seconds(60)

    /// Creates the default limits.
    package init() {}
}
