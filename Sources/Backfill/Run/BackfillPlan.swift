package import BSON
package import JobState
import Mongo
package import Running
package import Steps

/// What is known before anything is written: shown to the operator, who then says yes or no.
package struct BackfillPlan: Sendable {
    /// The collection as it was found.
    package struct Collection: Sendable {
        /// Its documents, counted.
        package var documents: Int
        /// Its UUID, where the server gives one.
        var uuid: BSONValue?
        /// Whether the server compares the UUID with every write.
        var checksUUID = false
        /// The average document's bytes, where the server tells.
        var averageSize: Int?

        /// The UUID, where the server compares it with every command.
        var checkedUUID: BSONValue? { checksUUID ? uuid : nil }
    }

    /// What the job does to documents that sync under the active schema.
    package struct Risk: Sendable {
        /// How close to the limit it is; `nil` when the job cannot do harm.
        package var headroom: Headroom?
        /// Documents that the job makes unsyncable.
        package var harm = 0
        /// Those of them that a run which died recorded already, so that ``headroom`` has them among the pending.
        package var recorded = 0
    }

    /// How it stands with the deploy of the job's next schema.
    package enum Deploy: Sendable {
        /// The job does not ask.
        case notAsked
        /// The job waits for it: a run is refused then.
        case awaited
        /// It is the active one: recorded by an operator, or stated for this run.
        case done
    }

    /// The job's name.
    package var job: String
    /// The collection.
    package var namespace: Namespace
    /// The collection as it was found.
    package var collection: Collection
    /// Documents that lack any of the steps; `nil` where nobody has looked.
    package var needing: Int?
    /// Each step now; empty where nobody has looked.
    package var before: [StepCount]
    /// Each step after the job.
    package var after: [StepCount]
    /// Chunks that earlier runs wrote, when the job is half done.
    package var resumesAfter: Int?
    /// What the job does to documents that sync.
    package var risk = Risk()
    /// What is said before the start: what cannot be taken back, and what could not be looked at.
    package var notes: [String]
    /// Documents whose target is still what the job wrote, and follows its source.
    package var refreshable = 0
    /// Set while an operator wants the job to wait: a run is refused then.
    package var paused: Control.Mark?
    /// How it stands with the deploy of the job's next schema.
    package var deploy = Deploy.notAsked
    /// Whether the job was done before this run.
    var wasDone = false
    /// What stands against the job in the documents themselves, and is not accepted by the job file.
    package var obstacles: [String] = []
    /// The reasons to wait that the run goes without, as the user may not read what they measure.
    var missingMetrics: Set<ServerMetricsReader.Missing> = []
}
