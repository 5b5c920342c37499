package import BSON
package import Checking
package import Concurrency
import Following
import Mongo
package import Running
package import ServerSchema

/// Follows the changes of the collections that sync under a schema, and judges each changed document.
///
/// The watch keeps a ledger of the documents that do not sync.
package struct Watch: Sendable {
    /// The schemas of the synced collections, by which the watch judges documents.
    let schemas: [CompiledSchema]
    /// The internal id of the sync engine's app, which each entry of the ledger contains; `nil` if the schema names no
    /// app.
    let appID: String?
    /// The digest of the schema and of the options for judging.
    ///
    /// If the last run had another digest, the watch reads all collections again.
    let digest: String
    let options: WatchOptions
    let stop: StopSignal
    let events: @Sendable (WatchEvent) -> Void

    /// Creates a watch; `events` is called on any of the watch's threads.
    /// - Throws: ``WatchError`` when the ledger's database or the state database belongs to the sync engine, or when
    ///   the ledger is a collection of the schema.
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
            throw WatchError("the ledger \(own.namespace) is a collection of the schema: name another with --into")
        }
        appID = schema.appID
        digest = WatchState.digest(of: schema, options)
        (self.options, self.stop, self.events) = (options, stop, events)
    }
}

package struct WatchOptions: Sendable {
    /// The options for the lease, the state database and the retry policy.
    package var run = RunOptions()
    /// The collection that holds the ledger.
    ///
    /// Apart from its record in the state database, the watch writes to no other collection.
    package var ledger = Namespace(database: "shipshape", collection: "unsynced_documents")
    /// The assumptions that the watch makes about the app when it judges documents.
    package var assumptions = CheckOptions()
    /// Whether the ledger also lists documents that might not sync, in addition to those that certainly do not sync.
    package var isStrict = false
    /// The number of unsynced documents at which sync stops; `Int.max` for no limit.
    package var limit = 100_000
    /// The percentage of ``limit`` at which the watch begins to warn.
    package var warnsAt = 80
    /// Whether the watch ends once it has judged all changes from before its start.
    package var endsWhenCaughtUp = false
    /// The number of threads that read a whole collection.
    package var threads = 2

    package init() {}

    /// The number of unsynced documents at which the watch begins to warn.
    package var warningCount: Int { limit == .max ? .max : (limit * warnsAt + 99) / 100 }
}

/// The reason why a watch cannot run.
package struct WatchError: Error, CustomStringConvertible {
    /// The text of the error, which says what is wrong and how to fix it.
    package let description: String

    init(_ description: String) { self.description = description }
}

/// An event that a watch reports while it works.
package enum WatchEvent: Sendable {
    /// An event that every kind of runner can report, such as a retry.
    case run(RunEvent)
    /// The watch begins to read a whole collection, for the given reason.
    case reading(Namespace, reason: String)
    /// The watch has read a whole collection of `documents` documents, of which `failing` belong in the ledger.
    case wasRead(Namespace, documents: Int, failing: Int)
    /// The watch follows a collection from the position at which an earlier run stopped.
    case resumed(Namespace)
    /// The watch has judged all changes from before its start.
    case caughtUp
    /// The watch has counted the entries of the ledger.
    case counted(WatchCounts)
    /// The number of unsynced documents has reached ``WatchOptions/warningCount``.
    case warning(WatchCounts)
}

/// The number of entries in a ledger, and the progress of the watch.
package struct WatchCounts: Sendable, Hashable {
    package var ledger: Namespace
    /// The number of ledger entries for each watched collection that has entries.
    package var collections: [(namespace: Namespace, count: Int)]
    /// The number of unsynced documents at which sync stops; `Int.max` for no limit.
    package var limit: Int
    /// The number of changes that the watch has judged since it began.
    package var changes: Int
    /// The lag of the ledger in seconds: how long ago the deployment had the state that the ledger shows.
    package var lag: Int

    package var total: Int { collections.reduce(0) { $0 + $1.count } }

    /// Whether two counts have the same values in all properties.
    package static func == (left: WatchCounts, right: WatchCounts) -> Bool {
        left.ledger == right.ledger && left.changes == right.changes && left.lag == right.lag
            && left.limit == right.limit && left.collections.elementsEqual(right.collections, by: ==)
    }

    /// Hashes only the total and the number of changes, which is enough to distinguish most counts.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(total)
        hasher.combine(changes)
    }
}

package struct WatchOutcome: Sendable {
    /// The last counts of the ledger.
    package var counts: WatchCounts
    /// Whether the watch judged all changes from before its start.
    package var isCaughtUp: Bool
}
