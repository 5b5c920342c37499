package import BSON
package import JobState
import Mongo
package import Running
package import Steps

/// The facts that are known before anything is written; the operator sees them and then approves the run, or not.
package struct BackfillPlan: Sendable {
    /// The collection as the plan found it.
    package struct Collection: Sendable {
        /// How many documents the job applies to, as counted or by the collection's metadata.
        package var documents: Int
        /// The collection's UUID, if the server reports one.
        var uuid: BSONValue?
        /// Whether the server compares the UUID with every write.
        var checksUUID = false
        /// The average document's size in bytes, if the server reports it.
        var averageSize: Int?

        /// The UUID, if the server compares it with every command.
        var checkedUUID: BSONValue? { checksUUID ? uuid : nil }
    }

    /// The effect of the job on documents that sync under the active schema.
    package struct Risk: Sendable {
        /// The state of the budget; `nil` when the job cannot make documents unsyncable.
        package var headroom: Headroom?
        /// How many documents the job makes unsyncable.
        package var harm = 0
        /// How many of those an earlier, killed run or another job reserved; ``headroom`` counts them as pending.
        package var recorded = 0
    }

    /// The state of the deploy of the job's next schema.
    package enum Deploy: Sendable {
        /// The job does not require it, and none is recorded.
        case notAsked
        /// The job waits for it: a run is refused then.
        case awaited
        /// The next schema is the active one: recorded by an operator, or stated for this run.
        case done
    }

    /// The job's name.
    package var job: String
    /// The collection.
    package var namespace: Namespace
    /// The collection as the plan found it.
    package var collection: Collection
    /// How many documents need any of the steps; `nil` if not counted.
    package var needing: Int?
    /// The counts of each step now; empty if not counted.
    package var before: [StepCount]
    /// The counts of each step after the job; empty if not counted.
    package var after: [StepCount]
    /// How many chunks earlier runs wrote, if the job is unfinished.
    package var resumesAfter: Int?
    /// The effect of the job on documents that sync.
    package var risk = Risk()
    /// Notes for the operator before the start: changes that cannot be undone, and facts that could not be read.
    package var notes: [String]
    /// How many documents have a target that still holds what the job wrote, and that takes its source's new value.
    package var refreshable = 0
    /// The operator's pause, while there is one; a run is then refused.
    package var paused: Control.Mark?
    /// The state of the deploy of the job's next schema.
    package var deploy = Deploy.notAsked
    /// Whether the job was done before this run.
    var wasDone = false
    /// Problems in the documents themselves that prevent the job, and that the job file does not accept.
    package var obstacles: [String] = []
    /// The throttle reasons that the run does without, because the user has no privilege to read their metrics.
    var missingMetrics: Set<ServerMetricsReader.Missing> = []
}
