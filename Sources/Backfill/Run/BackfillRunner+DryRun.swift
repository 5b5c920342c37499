import BSON
import Checking
import Concurrency
import JobState
import Jobs
package import Mongo

extension BackfillRunner {
    /// Shows what the job would do: every document is read and judged as it is and as it would be; nothing is written.
    ///
    /// Works with a read-only user and touches no state.
    /// - Throws: ``BackfillError``; ``MongoError``.
    package func dryRun(_ plan: BackfillPlan, on pool: ClientPool) throws -> BackfillReport {
        let started = ContinuousClock.now
        let client = try pool.client()
        return try prepared(on: client).settled(by: try store(pool)).dryRun(plan, on: client, pool, since: started)
    }

    private func dryRun(
        _ plan: BackfillPlan, on client: borrowing Client, _ pool: ClientPool, since started: ContinuousClock.Instant
    ) throws -> BackfillReport {
        var report = BackfillReport(
            job: plan.job, namespace: plan.namespace, outcome: .dryRun, estimatedDocuments: plan.documents,
            before: plan.before, after: plan.after)
        let cutter = SpanCutter(collection: client.collection(job.job.namespace))
        var count = PreviewCount(job: job)
        if let upper = try retry.run({ try cutter.greatestID() }) {
            let walk = PreviewWalk(self, upper: upper, averageSize: plan.averageSize)
            count = try walk.run(in: job.job.limits.concurrency, on: pool)
            report.chunks = count.chunks
            report.failures = BackfillReport.FailureGroup.all(of: count.failures)
            if stop.isRaised { report.outcome = .stopped(.signal) }
        }
        report.refreshed = job.refreshing == nil ? nil : plan.refreshable
        (report.modified, report.updates) = (count.modified, count.updates)
        report.samples = count.samples.map(\.sample)
        report.unsyncable = job.next == nil ? nil : (count.failingBefore, count.failingAfter)
        report.harm = job.countsHarm ? plan.harm : nil
        report.headroom = plan.headroom
        report.notes = plan.notes
        do { try checkHarm(of: plan) } catch { report.refusal = error.message }
        report.seconds = started.duration(to: .now).seconds
        report.estimate = RunEstimate(
            RunEstimate.Measured(
                seconds: report.seconds, changed: count.updates, touchedBytes: count.touchedBytes,
                idBytes: count.idBytes, journalBytes: keepsJournal ? count.journalBytes : 0,
                nice: job.job.limits.nice, oplogCapacity: Self.oplogCapacity(on: client)))
        return report
    }
}

extension BackfillRunner {
    /// What the oplog holds at most; `nil` without the privilege to see it, and where there is none.
    private static func oplogCapacity(on client: borrowing Client) -> Int? {
        var cursor = client.collection(Namespace(database: "local", collection: "oplog.rs")).aggregate(
            [["$collStats": ["storageStats": [:]]], ["$project": ["size": "$storageStats.maxSize"]]])
        return (try? cursor.nextDocument())?["size"]?.integer
    }
}
