package import BSON
import Concurrency
import JobState
package import Running
package import Steps

/// What a backfill did, or would do, and what remains.
package struct BackfillReport: Sendable {
    /// How a run came to its end.
    package enum Outcome: Sendable, Hashable {
        /// A dry run: nothing was written.
        case dryRun
        /// No document needed the job.
        case nothingToDo
        /// Every document that needed the job and could be changed was changed.
        case done
        /// Stopped between two chunks; the next run goes on from there.
        case stopped(RunStop)

        /// Why it stopped; `nil` where it did not.
        package var stop: RunStop? { if case .stopped(let stop) = self { stop } else { nil } }
    }

    /// What a run did, or would do.
    package struct Work: Sendable {
        /// Documents that the run changed, or would change, each once.
        package var modified = 0
        /// Changes, one for each phase of the job that changed a document.
        package var updates = 0
        /// Whether they may be more: the server does not say of every write that failed how far it came.
        package var modifiedIsLow = false
        /// Documents whose target followed its source, or would; `nil` where no step is for that.
        package var refreshed: Int?
        /// Chunks that the run wrote, or would write.
        package var chunks = 0
        /// Chunks that earlier runs of the job wrote.
        package var earlierChunks = 0
        /// How long the run took, in seconds.
        package var seconds = 0.0
        /// What the run waited for.
        package var waits: [ThrottleWait] = []
    }

    /// The job's name.
    package var job: String
    /// The collection.
    package var namespace: Namespace
    /// How the run ended.
    package var outcome: Outcome
    /// The collection's documents by its metadata, at the start.
    package var estimatedDocuments: Int
    /// Each step before the run.
    package var before: [StepCount]
    /// Each step after the run; in a dry run what would be left.
    ///
    /// Empty when a signal stopped the run.
    package var after: [StepCount]
    /// What the run did, or would do.
    package var work = Work()
    /// Documents that were skipped, by the reason: those of earlier runs too that still need the job.
    package var failures: [FailureGroup] = []
    /// How close to the limit the job comes.
    package var headroom: Headroom?
    /// Documents that sync under the active schema and would not after the job; `nil` when there is no active schema.
    package var harm: Int?
    /// Why a run would be refused; a dry run shows it, where a run throws it.
    package var refusal: String?
    /// Documents that do not sync under the next schema, before and after the job; before it only a dry run has looked.
    package var unsyncable: (before: Int?, after: Int)?
    /// A few documents before and after the job, for `--show-values`; `_id` and the changed paths else.
    package var samples: [Sample] = []
    /// What a run would take; a dry run alone has it.
    package var estimate: RunEstimate?
    /// What the operator should know besides.
    package var notes: [String] = []

    /// One document before and after.
    package struct Sample: Sendable {
        /// The document's `_id`.
        package var id: BSONValue
        /// The target fields before: path and type, with the value.
        package var before: [(path: String, value: BSONValue?)]
        /// The same fields after.
        package var after: [(path: String, value: BSONValue?)]
    }

    /// Whether documents remain that need the operator, or that the run should have changed and did not.
    package var hasFindings: Bool {
        if case .stopped = outcome { return false }
        let open = after.contains { step in
            (outcome != .dryRun && step.needing > 0) || step.leftAlone.contains { $0.isTrouble && $0.count > 0 }
        }
        return open || !failures.isEmpty || (unsyncable?.after ?? 0) > 0 || refusal != nil
    }
}

extension BackfillReport {
    /// The documents that were skipped for one reason.
    package struct FailureGroup: Sendable {
        /// The server's code; 0 for a document that the sync translator holds locked.
        package var code: Int
        /// The reason in words.
        package var name: String
        /// How many.
        package var count: Int
        /// The `_id`s of a few.
        package var samples: [BSONValue]

        /// Groups by code, the most frequent first.
        /// - Parameter unlisted: locked documents that count beside those that are listed.
        static func all(of failures: [Failure], unlisted: Int = 0) -> [FailureGroup] {
            Dictionary(grouping: failures, by: \.code).map { code, failures in
                FailureGroup(
                    code: code, name: failures[0].name, count: failures.count + (code == 0 ? unlisted : 0),
                    samples: failures.prefix(Survey.samples).map(\.id))
            }.sorted { ($1.count, $0.code) < ($0.count, $1.code) }
        }
    }
}
