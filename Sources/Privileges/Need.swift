package import BSON
package import Mongo

/// A kind of resource for which commands need privileges.
package enum Place: String, Sendable, CaseIterable {
    /// The collections that the schema covers, or the collection that the job writes.
    case data
    /// The databases of the collections in ``data`` and ``partner``, for commands on a whole database.
    case database
    /// Collections in which a job's steps look up documents.
    case lookedUp
    /// Collections in which a job's steps look up documents by a field other than `_id`.
    case indexed
    /// Collections in which a job's steps create documents.
    case created
    /// The partner collection of a partner job.
    case partner
    case state
    /// The collection of the state database with the records of jobs.
    case jobs
    /// The collection of the state database with the progress of jobs.
    case ranges
    /// The sync engine's ledgers of unsynced documents.
    case ledger
    /// The collection in which the command `ledger follow` lists failing documents.
    case watchLedger
    /// The database with the history of checks.
    case history
    /// The collection in which a check stores failing documents.
    case failures
    case oplog
    /// The deployment as a whole, for actions that apply to no database.
    case cluster
}

/// The actions that a command performs on a kind of resource, and their purpose.
package struct Need: Sendable, Hashable {
    /// The kind of resource on which the command performs the actions.
    package let place: Place
    /// The actions that the command performs, with the names that MongoDB's roles use.
    package let actions: [String]
    /// The purpose for which the command performs the actions, as a clause.
    package let purpose: String
    /// The consequence if the actions are not granted, as a clause; `nil` if the command then cannot run at all.
    package let loss: String?

    static func needs(_ place: Place, _ actions: String..., for purpose: String) -> Need {
        Need(place: place, actions: actions, purpose: purpose, loss: nil)
    }

    static func may(_ place: Place, _ actions: String..., for purpose: String, without loss: String) -> Need {
        Need(place: place, actions: actions, purpose: purpose, loss: loss)
    }
}

/// The resources that a command works on, by kind.
package struct WorkPlaces: Sendable, Equatable {
    /// The resources that the command works on, by kind.
    package private(set) var resources: [Place: [PrivilegeResource]] = [.cluster: [.cluster]]

    /// Creates the resources that do not depend on collections: the deployment, the oplog and, if it is given, the
    /// state database.
    package init(state: String? = nil) {
        if let state {
            resources[.state] = [.database(state)]
            for place in [Place.jobs, .ranges] {
                resources[place] = [.collection(Namespace(database: state, collection: place.rawValue))]
            }
        }
        resources[.oplog] = [.collection(Namespace(database: "local", collection: "oplog.rs"))]
    }

    /// Adds collections as resources of a kind; for ``Place/data`` and ``Place/partner``, also adds their databases.
    package mutating func add(_ namespaces: [Namespace], to place: Place) {
        add(namespaces.map { .collection($0) }, to: place)
        if place == .data || place == .partner { addDatabases(of: namespaces, to: .database) }
    }

    /// Adds the databases of the given collections as resources of a kind.
    private mutating func addDatabases(of namespaces: [Namespace], to place: Place) {
        add(namespaces.map { .database($0.database) }, to: place)
    }

    /// Adds all resources of another command.
    package mutating func add(_ other: WorkPlaces) {
        for (place, more) in other.resources { add(more, to: place) }
    }

    /// Adds resources of a kind, except the ones that are listed already.
    package mutating func add(_ more: [PrivilegeResource], to place: Place) {
        for resource in more where resources[place]?.contains(resource) != true {
            resources[place, default: []].append(resource)
        }
    }
}
