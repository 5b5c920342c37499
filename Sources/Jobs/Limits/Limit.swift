import Concurrency
package import LocatedYAML

/// A limit that a job file states below `limits`: its name, how it is read, and how it is spelled.
///
/// ``all`` is the one list of them: the parser of job files, `tune` and `status` go by it, and the tests hold the
/// documentation against it.
package struct Limit: Sendable {
    /// Its path below `limits`, such as `nice` or `chunk.documents`.
    package let name: String
    /// The name that it had before, which job files may still use.
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

    /// The limit of this name, or that had it before.
    package static func named(_ name: String) -> Limit? { all.first { $0.name == name || $0.alias == name } }

    /// Its name within its group.
    private var key: String { name.split(separator: ".").last.map(String.init) ?? name }

    /// Its value, as a job file spells it.
    package func text(in limits: Job.Limits) -> String { speller(limits) }
}

extension Job.Limits {
    /// Every limit by its name below `limits`, with its value as a job file spells it.
    package var entries: [(name: String, value: String)] { Limit.all.map { ($0.name, $0.text(in: self)) } }

    /// Reads what a job file says below `limits`; what it does not name has its default.
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

    /// What a file says of the limit, by its name or the one that it had before.
    private func member(of members: YAMLMembers) throws(JobError) -> (key: String, YAMLNode)? {
        guard let alias, let old = members[alias] else { return members[name].map { (name, $0) } }
        if members[name] != nil { throw old.error("\"\(alias)\" is the former name of \"\(name)\": give one of them") }
        return (alias, old)
    }
}

/// At what a run waits; `nil` takes a reason off.
package struct ThrottleLimits: Hashable, Sendable {
    /// The most that a majority, or the slowest healthy secondary, may be behind the primary.
    package var lag: Duration? = .seconds(10)
    /// The most that all writers together may wait for flow control in a second.
    package var flowControl: Duration? = .seconds(1)
    /// The most of the storage engine's execution tickets that may be in use, in percent.
    package var tickets: Int? = 80
    /// The most of the cache that may wait to be written to disk, in percent.
    ///
    /// At 20% WiredTiger makes users' own operations write it.
    package var cacheDirty: Int? = 15
    /// The most of the cache that may be filled, in percent.
    ///
    /// WiredTiger fills it to 80% and, from 95%, makes users' own operations free it.
    package var cacheUsed: Int? = 95
    /// The least time that the oplog has to reach back, once it is full.
    ///
    /// A sync translator or a change stream that falls off its end is lost.
    package var oplog: Duration? = .seconds(3_600)
    /// When nothing is written.
    package var pause: [PauseWindow] = []
    /// How long the ledger may lag behind the writes: a document that was repaired keeps its room that long.
    package var ledgerLag: Duration = .seconds(60)

    /// The defaults.
    package init() {}
}
