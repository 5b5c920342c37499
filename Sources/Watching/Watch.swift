package import BSON
package import Checking
package import Concurrency
import Following
import Mongo
package import Running
package import ServerSchema

/// Follows the changes of every collection that a schema covers, judges each changed document, and keeps a ledger of
/// the documents that do not sync.
package struct Watch: Sendable {
    /// The schemas that documents are judged by, without those that no verdict counts.
    let schemas: [CompiledSchema]
    /// The app's id in the ledger's entries; `nil` if the schema names no app.
    let appID: String?
    /// The digest of the schema and the options; if it changes, the ledger is built again.
    let digest: String
    let options: WatchOptions
    let stop: StopSignal
    let events: @Sendable (WatchEvent) -> Void

    /// Creates a watch; `events` is called on any of the watch's threads.
    /// - Throws: ``WatchError`` when the ledger, or the state, is in a database of the sync engine, or the ledger is a
    ///   collection of the schema.
    package init(
        _ schema: ServerSchema, options: WatchOptions, stop: StopSignal,
        events: @Sendable @escaping (WatchEvent) -> Void
    ) throws {
        for namespace in [options.ledger, Namespace(database: options.run.stateDatabase, collection: "streams")] {
            try WatchLedger.check(namespace)
        }
        schemas = schema.collections.map { CompiledSchema($0, of: schema, options: options.assumptions) }
            .filter(\.isCounted)
        if let own = schemas.first(where: { $0.namespace == options.ledger }) {
            throw WatchError("the ledger \(own.namespace) is a collection of the schema: name another with --ledger")
        }
        appID = schema.appID
        digest = WatchState.digest(of: schema, options)
        (self.options, self.stop, self.events) = (options, stop, events)
    }
}

/// The options of a watch.
package struct WatchOptions: Sendable {
    /// The options for the lease, the state database and retries.
    package var run = RunOptions()
    /// The ledger, which is the only collection that the watch writes, apart from its state.
    package var ledger = Namespace(database: "shipshape", collection: "unsynced_documents")
    /// The assumptions about the app.
    package var assumptions = CheckOptions()
    /// Whether documents that might not sync are recorded too.
    package var isStrict = false
    /// The count of unsynced documents at which sync stops.
    package var limit = 100_000
    /// The percentage of the limit from which on the watch warns.
    package var warnsAt = 80
    /// Whether the watch ends once it has judged everything that had happened when it began.
    package var endsWhenCaughtUp = false
    /// The number of threads that read a whole collection.
    package var threads = 2

    /// Creates the default options.
    package init() {}

    /// The count from which on the watch warns.
    package var warningCount: Int { (limit * warnsAt + 99) / 100 }
}

/// The reason why a watch cannot run.
package struct WatchError: Error, CustomStringConvertible {
    /// The text of the error: what is wrong, and how to fix it.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// An event that a watch reports while it works.
package enum WatchEvent: Sendable {
    /// An event that any runner may report.
    case run(RunEvent)
    /// A whole collection is being read, for this reason.
    case reading(Namespace, reason: String)
    /// A whole collection was read: the number of documents, and how many of them do not sync.
    case wasRead(Namespace, documents: Int, failing: Int)
    /// A collection is followed from where an earlier run stopped.
    case resumed(Namespace)
    /// Everything that had happened when the watch began is judged.
    case caughtUp
    /// The ledger was counted again.
    case counted(WatchCounts)
    /// The count has reached the percentage of the limit at which the operator wants a warning.
    case warning(WatchCounts)
}

/// The number of entries in a ledger, and the state of the watch.
package struct WatchCounts: Sendable, Hashable {
    /// The ledger's collection.
    package var ledger: Namespace
    /// The number of entries of each collection.
    package var collections: [(namespace: Namespace, count: Int)]
    /// The count of unsynced documents at which sync stops.
    package var limit: Int
    /// The number of changes that the watch has judged since it began.
    package var changes: Int
    /// The number of seconds that the ledger lags behind the deployment.
    package var lag: Int

    /// The number of all entries.
    package var total: Int { collections.reduce(0) { $0 + $1.count } }

    /// Whether both have the same values.
    package static func == (left: WatchCounts, right: WatchCounts) -> Bool {
        left.ledger == right.ledger && left.changes == right.changes && left.lag == right.lag
            && left.limit == right.limit && left.collections.elementsEqual(right.collections, by: ==)
    }

    /// Hashes the total and the number of changes.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(total)
        hasher.combine(changes)
    }
}

/// The outcome of a watch.
package struct WatchOutcome: Sendable {
    /// The last counts of the ledger.
    package var counts: WatchCounts
    /// Whether everything that had happened when the watch began was judged.
    package var isCaughtUp: Bool
}
