package import BSON
package import Checking
package import Concurrency
import Following
import Mongo
package import Running
package import ServerSchema

/// Follows the changes of every collection that a schema covers, judges each changed document, and keeps a ledger of
/// those that do not sync.
package struct Watch: Sendable {
    /// The schemas that documents are judged by; what is not counted in a verdict is not among them.
    let schemas: [CompiledSchema]
    /// What the ledger's entries carry; `nil` where the schema names no app.
    let appID: String?
    /// What tells the schema from another: the ledger is made anew for another one.
    let digest: String
    let options: WatchOptions
    let stop: StopSignal
    let events: @Sendable (WatchEvent) -> Void

    /// Joins the parts; `events` is called on any of the watch's threads.
    /// - Throws: ``RunError`` when the ledger, or the state, would be written where only the sync engine may.
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

/// How a watch goes about it.
package struct WatchOptions: Sendable {
    /// The lease, the state database, and how failures are bridged.
    package var run = RunOptions()
    /// The collection that the watch keeps, and is the only one to write.
    package var ledger = Namespace(database: "shipshape", collection: "unsynced_documents")
    /// What is assumed about the app.
    package var assumptions = CheckOptions()
    /// Whether documents that may stop syncing are recorded, too.
    package var isStrict = false
    /// The count of unsynced documents at which sync stops.
    package var limit = 100_000
    /// The share of the limit, in percent, from which on the watch warns.
    package var warnsAt = 80
    /// Whether the watch ends once it has seen all that had happened when it began.
    package var endsWhenCaughtUp = false
    /// How many threads read a collection that is read whole.
    package var threads = 2

    /// The defaults.
    package init() {}

    /// The count from which on the watch warns.
    package var warningCount: Int { (limit * warnsAt + 99) / 100 }
}

/// Why a watch cannot be kept so.
package struct WatchError: Error, CustomStringConvertible {
    /// What, and how to mend it.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// What a watch says while it works.
package enum WatchEvent: Sendable {
    /// What every runner may say.
    case run(RunEvent)
    /// A collection is read whole, for that reason.
    case reading(Namespace, reason: String)
    /// It was read: how many documents, and how many of them do not sync.
    case wasRead(Namespace, documents: Int, failing: Int)
    /// A collection is followed from where an earlier run was.
    case resumed(Namespace)
    /// All that had happened when the watch began is judged.
    case caughtUp
    /// The ledger was counted anew.
    case counted(WatchCounts)
    /// The count has come to the share of the limit that the operator wants to know of.
    case warning(WatchCounts)
}

/// What a ledger holds at the moment.
package struct WatchCounts: Sendable, Hashable {
    /// The ledger.
    package var ledger: Namespace
    /// The entries of each collection.
    package var collections: [(namespace: Namespace, count: Int)]
    /// The count of unsynced documents at which sync stops.
    package var limit: Int
    /// How many changes the watch has judged since it began.
    package var changes: Int
    /// How many seconds the ledger is behind the deployment.
    package var lag: Int

    /// All entries.
    package var total: Int { collections.reduce(0) { $0 + $1.count } }

    /// Whether the two say the same.
    package static func == (left: WatchCounts, right: WatchCounts) -> Bool {
        left.ledger == right.ledger && left.changes == right.changes && left.lag == right.lag
            && left.limit == right.limit && left.collections.elementsEqual(right.collections, by: ==)
    }

    /// Hashes the sums.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(total)
        hasher.combine(changes)
    }
}

/// How a watch ended.
package struct WatchOutcome: Sendable {
    /// What the ledger held last.
    package var counts: WatchCounts
    /// Whether all that had happened when the watch began was judged.
    package var isCaughtUp: Bool
}
