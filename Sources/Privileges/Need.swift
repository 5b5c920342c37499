package import BSON
package import Mongo

/// A kind of resource that commands need privileges on.
package enum Place: String, Sendable, CaseIterable {
    /// The collections of the schema or the job.
    case data
    /// The databases of those collections, for what is asked of a database itself, or computed in it.
    case database
    /// Collections that a job's steps look documents up in.
    case lookedUp
    /// Collections that a job's steps look up in by another field than `_id`.
    case indexed
    /// Collections that a job's steps make documents in.
    case created
    /// The partner of a collection.
    case partner
    /// The state database.
    case state
    /// The collection of the state database that holds the records of jobs.
    case jobs
    /// The collection of the state database that holds how far jobs are.
    case ranges
    /// The sync engine's ledgers of unsynced documents.
    case ledger
    /// The ledger that a watch keeps.
    case watchLedger
    /// The database that keeps the history of checks.
    case history
    /// The oplog.
    case oplog
    /// The deployment itself.
    case cluster
}

/// Actions that a command takes at a place, and what for.
package struct Need: Sendable, Hashable {
    /// Where.
    package let place: Place
    /// The actions, as a role lists them.
    package let actions: [String]
    /// What for, as a clause.
    package let purpose: String
    /// What the command goes without when it is not granted; `nil` where it cannot run then.
    package let loss: String?

    static func needs(_ place: Place, _ actions: String..., for purpose: String) -> Need {
        Need(place: place, actions: actions, purpose: purpose, loss: nil)
    }

    static func may(_ place: Place, _ actions: String..., for purpose: String, without loss: String) -> Need {
        Need(place: place, actions: actions, purpose: purpose, loss: loss)
    }
}

/// The resources that a command works on, place by place.
package struct WorkPlaces: Sendable, Equatable {
    package private(set) var resources: [Place: [PrivilegeResource]] = [.cluster: [.cluster]]

    /// The state database, and the oplog; nothing else yet.
    package init(state: String? = nil) {
        if let state {
            resources[.state] = [.database(state)]
            for place in [Place.jobs, .ranges] {
                resources[place] = [.collection(Namespace(database: state, collection: place.rawValue))]
            }
        }
        resources[.oplog] = [.collection(Namespace(database: "local", collection: "oplog.rs"))]
    }

    /// Adds collections to a place; to ``Place/data``, their databases, too.
    package mutating func add(_ namespaces: [Namespace], to place: Place) {
        add(namespaces.map { .collection($0) }, to: place)
        if place == .data || place == .partner { addDatabases(of: namespaces, to: .database) }
    }

    /// Adds the databases of collections to a place.
    private mutating func addDatabases(of namespaces: [Namespace], to place: Place) {
        add(namespaces.map { .database($0.database) }, to: place)
    }

    /// Adds all places of another command.
    package mutating func add(_ other: WorkPlaces) {
        for (place, more) in other.resources { add(more, to: place) }
    }

    /// Adds resources to a place, each once.
    package mutating func add(_ more: [PrivilegeResource], to place: Place) {
        for resource in more where resources[place]?.contains(resource) != true {
            resources[place, default: []].append(resource)
        }
    }
}
