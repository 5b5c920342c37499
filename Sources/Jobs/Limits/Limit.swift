import Concurrency
package import LocatedYAML
import ServerSchema
import Yams

/// A limit that a job file states below `limits`, with its name and the format of its value.
///
/// ``all`` is the only list of limits. The parser of job files and `job tune` use the list, and the tests compare the
/// documentation with it.
package struct Limit: Sendable {
    /// The path of the limit below `limits`, such as `nice` or `chunk.documents`.
    package let name: String
    /// The limit's former name, which job files may still use; `nil` if there is none.
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

    /// All limits that a job file can state.
    package static let all: [Limit] = [
        Limit("chunk.documents", \.chunkDocuments, .count(from: 1)),
        Limit("chunk.time", \.chunkTime, .chunkTime),
        Limit("chunk.bytes", \.chunkBytes, .size),
        Limit("concurrency", alias: "lanes", \.concurrency, .count(from: 1, to: Job.Limits.maximumConcurrency)),
        Limit("unsynced", \.unsynced, .count(from: 1)),
        Limit("reserve", \.reserve, .reserve),
        Limit("nice", \.nice, .number(to: 100)),
        Limit("consumer.documents", \.consumer.documents, LimitKind.count(from: 1).orOff),
        Limit("consumer.bytes", \.consumer.bytes, LimitKind.size.orOff),
        Limit("lag", \.throttle.lag, LimitKind.duration.orOff),
        Limit("flowControl", \.throttle.flowControl, LimitKind.duration.orOff),
        Limit("tickets", \.throttle.tickets, LimitKind.percent.orOff),
        Limit("cache.dirty", \.throttle.cacheDirty, LimitKind.percent.orOff),
        Limit("cache.used", \.throttle.cacheUsed, LimitKind.percent.orOff),
        Limit("oplog", \.throttle.oplog, LimitKind.duration.orOff),
        Limit("pause", \.throttle.pause, .pauses),
        Limit("ledgerLag", \.throttle.ledgerLag, .duration),
    ]

    /// The groups of limits that a job file can set to `off` as a whole.
    private static let groupsThatCanBeOff: Set = ["cache", "consumer"]

    /// Returns the limit with a name or former name; `nil` if there is none.
    package static func named(_ name: String) -> Limit? { all.first { $0.name == name || $0.alias == name } }

    /// The last component of the limit's name, such as `documents` in `chunk.documents`.
    private var key: String { name.split(separator: ".").last.map(String.init) ?? name }

    package func text(in limits: Job.Limits) -> String { speller(limits) }
}

extension Job.Limits {
    /// The names and values of all limits, as a job file writes them below `limits`.
    package var entries: [(name: String, value: String)] { Limit.all.map { ($0.name, $0.text(in: self)) } }

    /// Reads the limits that a job file states; the other limits keep their defaults.
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
    /// The keys that a job file may have directly below `limits`, each once.
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
            if group == "consumer", let name = node.node.scalar?.string {
                limits.consumer = try consumer(name, node)
                continue
            }
            let members = try node.members(of: "\"\(group)\"", allowed: all.map(\.key))
            for limit in all {
                if let node = members[limit.key] { try limit.reader(node, limit.key, &limits) }
            }
        }
    }

    /// Returns the rate of a known consumer that a job file names instead of stating a rate.
    private static func consumer(_ name: String, _ node: YAMLNode) throws(JobError) -> ConsumerRate {
        if let known = ConsumerRate.known.first(where: { $0.name == name }) { return known.rate }
        let names = ConsumerRate.known.map(\.name)
        let hint = Spelling.hint(for: name, among: names).map { " (\($0))" } ?? ""
        throw node.error(
            "the rate of \"\(name)\" is not known\(hint): name \(names.joined(separator: ", ")), or state a rate, "
                + "such as {documents: 1000, bytes: 2MiB}")
    }

    /// Returns the node with the limit's value, and the present or former name by which the job file states the limit;
    /// `nil` if the file does not state it.
    /// - Throws: ``JobError`` if the file uses both the name and the former name.
    private func member(of members: YAMLMembers) throws(JobError) -> (key: String, YAMLNode)? {
        guard let alias, let old = members[alias] else { return members[name].map { (name, $0) } }
        if members[name] != nil { throw old.error("\"\(alias)\" is the former name of \"\(name)\": give one of them") }
        return (alias, old)
    }
}

/// The limits at which a run waits: values of the deployment's metrics, and times of the week.
///
/// `nil` switches a metric off.
package struct ThrottleLimits: Hashable, Sendable {
    /// The longest permitted lag behind the primary, for the majority of the members and for the slowest healthy
    /// secondary; `nil` for no limit.
    package var lag: Duration? = .seconds(10)
    /// The longest time that all writers together may wait for flow control in each second; `nil` for no limit.
    package var flowControl: Duration? = .seconds(1)
    /// The largest share of the storage engine's execution tickets that may be in use, in percent; `nil` for no limit.
    package var tickets: Int? = 80
    /// The largest share of the cache that may wait to be written to disk, in percent; `nil` for no limit.
    ///
    /// From 20% on, WiredTiger makes the users' operations write changed data to disk.
    package var cacheDirty: Int? = 15
    /// The largest share of the cache that may be in use, in percent; `nil` for no limit.
    ///
    /// WiredTiger fills the cache to 80%. From 95% on, it makes the users' operations free space in the cache.
    package var cacheUsed: Int? = 95
    /// The shortest period that the oplog must cover once it is full; `nil` for no limit.
    ///
    /// If the oplog no longer contains the position of a sync translator or a change stream, that reader cannot resume.
    package var oplog: Duration? = .seconds(3_600)
    /// The times of the week in which nothing is written.
    package var pause: [PauseWindow] = []
    /// The longest time that the sync engine's ledger of unsynced documents is expected to lag behind the writes.
    ///
    /// A document that syncs again usually counts against the unsync budget until this time has passed, because the
    /// ledger might still list the document.
    package var ledgerLag: Duration = .seconds(60)

    package init() {}
}
