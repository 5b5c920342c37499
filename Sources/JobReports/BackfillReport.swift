package import BSON
import Concurrency
package import JobState
package import Running
package import ServerSchema
package import Steps

/// The result of a backfill or of its dry run, and the work that remains.
package struct BackfillReport: Sendable {
    /// How a run ended.
    package enum Outcome: Sendable, Hashable {
        /// The run was a dry run, and wrote nothing.
        case dryRun
        /// No document needed the job.
        case nothingToDo
        /// The run reached its end: it changed every document that needed the job and could be changed.
        case done
        /// The run stopped between two chunks; the next run continues from there.
        case stopped(RunStop)

        /// Why the run stopped early; `nil` if it did not stop early.
        package var stop: RunStop? { if case .stopped(let stop) = self { stop } else { nil } }
    }

    /// The work that a run did, or would do.
    package struct Work: Sendable {
        /// How many documents the run changed, or would change; each counts once.
        package var modified = 0
        /// The number of changes; a document counts once for each phase of the job that changed it.
        package var updates = 0
        /// The number of documents in which a refresh replaced, or would replace, a target's value by the source's new
        /// value; `nil` if no step refreshes its target.
        package var refreshed: Int?
        /// How many chunks the run wrote, or would write.
        package var chunks = 0
        /// How many chunks earlier runs of the job wrote.
        package var earlierChunks = 0
        package var seconds = 0.0
        /// How long the run waited for each throttle reason, such as replication lag.
        package var waits: [ThrottleWait] = []
        /// A text that names the limit which determined the run's speed, such as a throttle rule or the server's speed.
        ///
        /// `nil` for a dry run, and for a run that was too short to find the limit.
        package var bound: String?
        /// The estimated cost of a run; `nil` unless the run was a dry run.
        package var estimate: RunEstimate?
    }

    package var job: String
    package var namespace: Namespace
    package var outcome: Outcome
    /// Whether the run was a dry run, and wrote nothing; a signal may have stopped it.
    package var isDryRun: Bool { outcome == .dryRun || work.estimate != nil }
    /// The number of documents in the job's scope when the run began, either counted or taken from the collection's
    /// metadata.
    package var estimatedDocuments: Int
    /// How many documents each step would change or skip, counted before the run; empty if they were not counted.
    package var before: [StepCount]
    /// How many documents each step would still change or skip after the run.
    ///
    /// In a dry run, these are the counts that a run would leave. Empty if a stop signal arrived before they were
    /// counted.
    package var after: [StepCount]
    package var work = Work()
    /// The skipped documents, as one group for each reason.
    ///
    /// Documents that earlier runs skipped are included if they still need the job.
    package var failures: [FailureGroup] = []
    /// The counts that show how many more documents may become unsyncable before the job's limit is reached; `nil` if
    /// the job cannot make documents unsyncable.
    package var headroom: Headroom?
    /// How many documents the job makes unsyncable under the active schema; `nil` unless that schema is for Device
    /// Sync.
    package var madeUnsyncable: Int?
    /// The reason for which a run would be refused; `nil` if a run would not be refused.
    ///
    /// Only a dry run sets this property.
    package var refusal: String?
    /// How many documents do not sync under the next schema, before and after the job; `nil` if they were not counted.
    ///
    /// Only a dry run counts them before the job. The dialect of the next schema defines what *unsyncable* means.
    package var unsyncable: (before: Int?, after: Int, dialect: Dialect)?
    /// Whether the job repairs documents, which means that its active and its next schema are the same.
    package var isRepair = false
    /// A few documents that a dry run found to need the job; the output shows their values only with `--show-values`.
    package var samples: [Sample] = []
    /// Notes for the operator about facts that the other properties do not show.
    package var notes: [String] = []
    /// How the program and the server disagree on the job's steps, as a sentence; `nil` if they do not.
    package var disagreement: String?

    package init(
        job: String, namespace: Namespace, outcome: Outcome, estimatedDocuments: Int, before: [StepCount],
        after: [StepCount]
    ) {
        (self.job, self.namespace, self.outcome) = (job, namespace, outcome)
        (self.estimatedDocuments, self.before, self.after) = (estimatedDocuments, before, after)
    }

    /// The values of one document's source and target fields, before and after the job.
    package struct Sample: Sendable {
        package var id: BSONValue
        /// The values of the source and target fields before the job, by path; a value is `nil` if the field is
        /// missing.
        package var before: [(path: String, value: BSONValue?)]
        /// The values of the source and target fields after the job, by path; a value is `nil` if the field is missing.
        package var after: [(path: String, value: BSONValue?)]

        package init(
            id: BSONValue, before: [(path: String, value: BSONValue?)], after: [(path: String, value: BSONValue?)]
        ) {
            (self.id, self.before, self.after) = (id, before, after)
        }
    }

    /// Whether the run leaves something for the operator to deal with.
    ///
    /// The value is `true` if documents still need the job after a run, were skipped for a reason that the operator has
    /// to resolve, or do not sync under the next schema. It is also `true` if a dry run found that a run would be
    /// refused. It is `false` for a stopped run, because the next run continues the job.
    package var hasFindings: Bool {
        hasOwnFindings || outcome.stop == nil && (unsyncable?.after ?? 0) > 0
    }

    /// Whether the job's own steps leave something: documents that need them or that they skipped, or a refusal.
    package var hasOwnFindings: Bool {
        if case .stopped = outcome { return false }
        let open = after.contains { step in
            (outcome != .dryRun && step.needing > 0) || step.skipped.contains { $0.isTrouble && $0.count > 0 }
        }
        return open || !failures.isEmpty || refusal != nil
    }

    /// The documents that a run skipped for one reason.
    package struct FailureGroup: Sendable {
        /// The server's error code; 0 for documents that the sync translator has locked.
        package var code: Int
        /// The reason for which the documents were skipped, in words.
        package var name: String
        package var count: Int
        /// The `_id`s of a few of the skipped documents.
        package var samples: [BSONValue]

        package init(code: Int, name: String, count: Int, samples: [BSONValue]) {
            (self.code, self.name, self.count, self.samples) = (code, name, count, samples)
        }

        /// Groups skipped documents by the server's error code; the group with the most documents comes first.
        /// - Parameter unlisted: the number of documents that are locked by the sync translator but not in `failures`;
        ///   the group with the code 0 counts them as well.
        package static func all(of failures: [Failure], unlisted: Int = 0) -> [FailureGroup] {
            Dictionary(grouping: failures, by: \.code).map { code, failures in
                FailureGroup(
                    code: code, name: failures[0].name, count: failures.count + (code == 0 ? unlisted : 0),
                    samples: failures.prefix(Survey.samples).map(\.id))
            }.sorted { ($1.count, $0.code) < ($0.count, $1.code) }
        }
    }
}
