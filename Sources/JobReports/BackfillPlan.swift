package import BSON
package import JobState
package import Running
package import Steps

/// The facts about a run that are known before it writes anything; the operator reads them and decides whether to
/// start.
package struct BackfillPlan: Sendable {
    /// The effect of the job on documents that sync under the active schema.
    package struct Risk: Sendable {
        /// The state of the unsync budget, which limits how many documents may be unsynced; `nil` when the job cannot
        /// make documents unsyncable.
        package var headroom: Headroom?
        /// How many documents the job makes unsyncable under the active schema.
        package var madeUnsyncable = 0
        /// How many of the documents in ``madeUnsyncable`` already have a reservation in the unsync budget, from a
        /// killed run or from another job; ``headroom`` counts them as pending.
        package var recorded = 0
    }

    /// The state of the deploy of the job's next schema.
    package enum Deploy: Sendable {
        /// No deploy is recorded, and the job does not require one.
        case notAsked
        /// The job requires that its next schema is deployed, and no deploy is recorded. A run is refused, unless the
        /// operator confirms the deploy.
        case awaited
        /// The next schema is the active one: an operator recorded the deploy, or the options of this run state it.
        case done
    }

    package var job: String
    package var namespace: Namespace
    /// The number of documents in the job's scope; counted, or taken from the collection's metadata.
    package var documents: Int
    /// The job's collection, as the plan found it.
    package let target: Target
    /// How many documents need at least one step; `nil` if not counted.
    package var needing: Int?
    /// How many documents each step would change or skip, counted before the run; empty if not counted.
    package var before: [StepCount]
    /// How many documents each step would still change or skip after the job; empty if not counted.
    package var after: [StepCount]
    /// How many chunks earlier runs wrote in the unfinished pass that this run continues; `nil` if there is no such
    /// pass.
    package var resumesAfter: Int?
    package var risk = Risk()
    /// Notes for the operator, to be read before the run starts.
    ///
    /// Examples are changes that cannot be undone, data that could not be read, and the reasons why a run would wait
    /// now.
    package var notes: [String]
    /// How the program and the server disagree on the job's steps, as a sentence; `nil` if they do not.
    package var disagreement: String?
    /// The number of documents whose target field a refresh would overwrite: the job wrote the field, and the source
    /// has changed since then.
    package var refreshable = 0
    /// The pause that an operator ordered; `nil` if there is none.
    ///
    /// A paused job does not run.
    package var paused: Control.Mark?
    package var deploy = Deploy.notAsked
    /// Whether the job's state was `done` before this run.
    package var wasDone = false
    /// The problems in the documents because of which the program refuses to run the job, each as a message.
    package var obstacles: [String] = []
    /// The groups of metrics that cannot be read, so the run is not throttled by these metrics.
    package var missingMetrics: Set<ServerMetricsReader.Missing> = []

    package init(
        job: String, namespace: Namespace, documents: Int, target: Target, needing: Int?, before: [StepCount],
        after: [StepCount], resumesAfter: Int?, notes: [String]
    ) {
        (self.job, self.namespace, self.documents, self.target) = (job, namespace, documents, target)
        (self.needing, self.before, self.after) = (needing, before, after)
        (self.resumesAfter, self.notes) = (resumesAfter, notes)
    }

    /// Adds the counts of a survey of the collection.
    package mutating func add(_ survey: Survey.Result) {
        documents = survey.documents
        (needing, before, after) = (survey.needing, survey.before, survey.after)
    }
}
