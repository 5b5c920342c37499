package import BSON
import Concurrency
package import ServerSchema

/// A backfill of one collection, as its job file states it.
package struct Job: Sendable {
    /// The job's name: its identity in the state database.
    package var name: String
    /// The collection that it writes.
    package var namespace: Namespace
    /// The database that the file names, where the job runs in another one.
    package var movedFrom: String?
    /// The schema that is live while the job runs, as a path relative to the job file.
    package var activeSchema: String?
    /// The schema that the documents are made to fit, as a path relative to the job file.
    package var nextSchema: String?
    /// Whether the job must not run before its next schema is deployed.
    package var requiresDeploy = false
    /// What is done to each document, in this order.
    package var steps: [LocatedStep]
    /// How fast, and how far.
    package var limits: Limits
    /// Who else may hold a run.
    package var veto: Veto?
    /// Whether a journal is kept, from which the job can be undone.
    package var keepsJournal = true
    /// The file's path, as the user named it.
    package var path: String
    /// The file's text: what a started job is bound to.
    package var text: String
    /// Where the file names the collection.
    package var collectionLocation: SourceLocation

    /// A job that no job file states as a whole: its steps are of another file.
    package init(
        name: String, namespace: Namespace, steps: [LocatedStep], limits: Limits, path: String, text: String,
        collectionLocation: SourceLocation
    ) {
        (self.name, self.namespace, self.steps, self.limits) = (name, namespace, steps, limits)
        (self.path, self.text, self.collectionLocation) = (path, text, collectionLocation)
    }

    /// A step and its place in the file.
    package struct LocatedStep: Sendable {
        /// What is done.
        package var step: Step
        /// Where the file says so.
        package var location: SourceLocation

        /// Joins the two.
        package init(step: Step, location: SourceLocation) { (self.step, self.location) = (step, location) }
    }

    /// How fast a job may go, and how far.
    package struct Limits: Hashable, Sendable {
        /// The most documents in a chunk, whatever its bytes and its time.
        package var chunkDocuments = 100_000
        /// The bytes that a chunk is aimed at.
        package var chunkBytes = 16 << 20
        /// The server's work that a chunk is aimed at.
        package var chunkTime = Duration.milliseconds(500)
        /// How many parts of a chunk are read and written side by side.
        package var concurrency = 2
        /// The count of unsynced documents at which sync stops.
        package var unsynced = 100_000
        /// The part of ``unsynced`` that the job leaves free.
        package var reserve = Reserve.percent(10)
        /// Rest per unit of work: 0.5 rests half as long as each chunk took.
        package var nice = 0.0
        /// At what the deployment's state makes the run wait.
        package var throttle = ThrottleLimits()

        /// More commands side by side than a primary has use for beside its other work.
        static let mostConcurrency = 16

        /// The unsynced documents that the ledger and the job's own harm stay under.
        package var ceiling: Int { unsynced - reserve.count(of: unsynced) }
    }

    /// A part of a limit, as a count or in percent.
    package enum Reserve: Hashable, Sendable {
        /// So many documents.
        case documents(Int)
        /// So much of the limit, rounded up.
        case percent(Int)

        func count(of limit: Int) -> Int {
            switch self {
            case .documents(let count): count
            case .percent(let percent): (limit * percent + 99) / 100
            }
        }
    }
}

extension Job {
    /// What is added to the name of a job for its clean-up.
    package static let cleanupSuffix = ".cleanup"

    /// The fields that its steps may write or take away, each once.
    package var touched: [FieldPath] {
        var seen: Set<FieldPath> = []
        return steps.flatMap { $0.step.kind.parts.flatMap(\.touched) }.filter { seen.insert($0).inserted }
    }
}
