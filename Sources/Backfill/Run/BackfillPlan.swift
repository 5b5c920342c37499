package import BSON
package import JobState
import Mongo
package import Running
package import Steps

/// The facts about a run that are known before it writes anything; the operator sees them, and approves the run or not.
package struct BackfillPlan: Sendable {
    /// The collection as the plan found it.
    package struct Collection: Sendable {
        /// How many documents the job applies to: counted, or by the collection's metadata.
        package var documents: Int
        /// The collection's UUID, if the server reports one.
        var uuid: BSONValue?
        /// Whether the server compares the UUID with every write.
        var checksUUID = false
        /// The average document's size in bytes, if the server reports it.
        var averageSize: Int?

        /// The collection's UUID, if the server compares it with every command.
        var checkedUUID: BSONValue? { checksUUID ? uuid : nil }
    }

    /// The effect of the job on documents that sync under the active schema.
    package struct Risk: Sendable {
        /// The state of the unsync budget; `nil` when the job cannot make documents unsyncable.
        package var headroom: Headroom?
        /// How many documents the job makes unsyncable under the active schema.
        package var madeUnsyncable = 0
        /// How many of these documents a killed run or another job has reserved already; ``headroom`` counts them as
        /// pending.
        package var recorded = 0
    }

    /// The state of the deploy of the job's next schema.
    package enum Deploy: Sendable {
        /// The job does not require the deploy, and no deploy is recorded.
        case notAsked
        /// The job requires the deploy, and none is recorded, so a run is refused.
        case awaited
        /// The next schema is the active one: recorded by an operator, or stated for this run.
        case done
    }

    /// The job's name.
    package var job: String
    /// The collection of the job.
    package var namespace: Namespace
    /// The collection as the plan found it.
    package var collection: Collection
    /// How many documents need at least one step; `nil` if not counted.
    package var needing: Int?
    /// The counts of each step before the run; empty if not counted.
    package var before: [StepCount]
    /// The counts of each step after the job; empty if not counted.
    package var after: [StepCount]
    /// How many chunks earlier runs wrote; `nil` if they left no unfinished pass.
    package var resumesAfter: Int?
    /// The effect of the job on documents that sync.
    package var risk = Risk()
    /// Notes for the operator before the start: changes that cannot be undone, and facts that could not be read.
    package var notes: [String]
    /// In how many documents a refresh would replace the job's own value in a target by its source's new value.
    package var refreshable = 0
    /// The operator's pause, while there is one; a run is then refused.
    package var paused: Control.Mark?
    /// The state of the deploy of the job's next schema.
    package var deploy = Deploy.notAsked
    /// Whether the job was done before this run.
    var wasDone = false
    /// Problems in the documents themselves that prevent the job, and that the job file does not accept.
    package var obstacles: [String] = []
    /// The groups of metrics that the throttle of the run does without, because they cannot be read.
    var missingMetrics: Set<ServerMetricsReader.Missing> = []
}
