import ServerSchema

/// A sync engine that serves the documents of MongoDB collections to clients.
///
/// The table ``EngineRule/all`` has the rules for what an engine does with a document.
public enum Engine: String, Hashable, Sendable, CaseIterable {
    /// PowerSync, which turns each document into a row of the clients' SQLite database.
    case powersync
    /// ObjectBox Sync, which turns each document into an object of the model that the operator states.
    case objectbox
    /// Ditto's MongoDB connector.
    case ditto
    /// RxDB's replication with MongoDB.
    case rxdb
    /// Couchbase Sync Gateway, for documents that move from MongoDB to Couchbase.
    case couchbase
    /// Any engine, for operators who have not chosen one: its rules report the documents with which at least one engine
    /// has trouble.
    case any
    /// Atlas Device Sync, whose rules are those of App Services schemas. It keeps a ledger of unsynced documents, whose
    /// size has a limit.
    case deviceSync = "device-sync"

    /// The engine's name in sentences.
    public var name: String { facts.name }

    /// The version of the engine to which the rules apply, with the source from which its behaviour is known.
    public var version: String { facts.version }

    /// The name and the version; the numbers are the newest version that the rules describe.
    fileprivate var facts: (name: String, newest: [UInt], version: String) {
        switch self {
        case .powersync:
            (
                "PowerSync", [1, 25],
                "powersync-service 1.25.0 (332d649, August 2026; module-mongodb 0.20.1, js-bson 6.10.4) and its "
                    + "documentation (780aa3c)"
            )
        case .objectbox:
            ("ObjectBox Sync", [6], "ObjectBox Sync Server 6 (core 5.1.0), by documentation (f47cf67, July 2026)")
        case .ditto: ("Ditto", [5, 0], "MongoDB connector and SDK 5.0, by documentation of August 2026")
        case .rxdb: ("RxDB", [17, 3], "RxDB 17.3, plugin replication-mongodb (16b1659; js-bson 6.10.4)")
        case .couchbase:
            (
                "Sync Gateway", [4, 1],
                "Sync Gateway 4.1 and Couchbase Server 8.0, by documentation of August 2026 and its source (f39abe1)"
            )
        case .any:
            ("at least one engine", [], "the engines of this page; Airbyte, olake and dsync by their reported bugs")
        case .deviceSync: ("Device Sync", [], "App Services, as documented until its end in September 2025")
        }
    }
}

extension EngineSettings {
    /// Reads `ENGINE` or `ENGINE@VERSION`, such as `powersync@1.25.0`, with the version that runs.
    /// - Throws: ``UnknownEngine`` for an unknown engine, and for a version that is no list of numbers.
    public init(parsing text: String) throws(UnknownEngine) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let engine = Engine(rawValue: parts[0]) else { throw UnknownEngine(parts[0]) }
        self.init(engine)
        guard let version = parts.dropFirst().first else { return }
        let numbers = version.split(separator: ".", omittingEmptySubsequences: false).map { UInt($0) }
        guard !numbers.contains(nil) else {
            throw UnknownEngine(description: "\"\(version)\" is no version of \(engine.name): write one such as 1.25.0")
        }
        guard (engine.facts.newest + [.max]).lexicographicallyPrecedes(numbers.compactMap(\.self)) else { return }
        versionNote =
            "\(engine.name) \(version) is newer than the rules, which are those of \(engine.version): it may behave "
            + "differently"
    }
}

/// The error for a name that no engine has.
public struct UnknownEngine: Error, CustomStringConvertible {
    /// The message: the unknown name, a similar name if there is one, and the names of all engines.
    public let description: String

    fileprivate init(description: String) { self.description = description }

    fileprivate init(_ text: String) {
        let names = Engine.allCases.map(\.rawValue)
        let hint = Spelling.hint(for: text, among: names).map { "\($0) " } ?? ""
        description = "there is no engine \"\(text)\": \(hint)The engines are \(names.joined(separator: ", "))"
    }
}
