package import BSON
package import JobState
import Mongo
package import Running
package import Steps

/// What is known before anything is written: shown to the operator, who then says yes or no.
package struct BackfillPlan: Sendable {
    /// The job's name.
    package var job: String
    /// The collection.
    package var namespace: Namespace
    /// The collection's documents, counted.
    package var documents: Int
    /// Documents that lack any of the steps; `nil` where nobody has looked.
    package var needing: Int?
    /// Each step now; empty where nobody has looked.
    package var before: [StepCount]
    /// Each step after the job.
    package var after: [StepCount]
    /// Chunks that earlier runs wrote, when the job is half done.
    package var resumesAfter: Int?
    /// How close to the limit it is; `nil` when the job cannot do harm.
    package var headroom: Headroom?
    /// Documents that the job makes unsyncable under the active schema.
    package var harm: Int
    /// Those of them that a run which died recorded already, so that ``headroom`` has them among the pending.
    package var recordedHarm: Int
    /// What is said before the start: what cannot be taken back, and what could not be looked at.
    package var notes: [String]
    /// Documents whose target is still what the job wrote, and follows its source.
    package var refreshable = 0
    /// Set while an operator wants the job to wait: a run is refused then.
    package var paused: Control.Mark?
    /// Whether the job's next schema is the active one: recorded by an operator, or stated for this run.
    package var isDeployed = false
    /// Whether the job waits for the deploy of its next schema: a run is refused then.
    package var waitsForDeploy = false
    /// Whether the job was done before this run.
    var wasDone = false
    /// What stands against the job in the documents themselves, and is not accepted by the job file.
    package var obstacles: [String] = []
    /// The reasons to wait that the run goes without, as the user may not read what they measure.
    var missingMetrics: Set<ServerMetricsReader.Missing> = []
    /// The collection's UUID, where the server gives one.
    let collectionUUID: BSONValue?
    /// Whether the server compares the UUID with every write.
    let checksUUID: Bool
    /// The average document's bytes, where the server tells.
    let averageSize: Int?
}
