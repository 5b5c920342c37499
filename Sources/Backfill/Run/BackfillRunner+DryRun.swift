import BSON
import Checking
package import Mongo

extension BackfillRunner {
    /// Shows what the job would do: every document is read and judged as it is and as it would be; nothing is written.
    ///
    /// Works with a read-only user and touches no state.
    /// - Throws: ``BackfillError``; ``MongoError``.
    package func dryRun(_ plan: BackfillPlan, on pool: ClientPool) throws -> BackfillReport {
        let started = ContinuousClock.now
        let client = try pool.client()
        return try prepared(on: client).settled(by: try store(pool)).dryRun(plan, on: client, since: started)
    }

    private func dryRun(
        _ plan: BackfillPlan, on client: borrowing Client, since started: ContinuousClock.Instant
    ) throws -> BackfillReport {
        let collection = client.collection(job.job.namespace)
        var report = BackfillReport(
            job: plan.job, namespace: plan.namespace, outcome: .dryRun, estimatedDocuments: plan.documents,
            before: plan.before, after: plan.after)
        var count = PreviewCount(job: job)
        let chunker = Chunker(collection: collection)
        if let upper = try patience.bridging({ try chunker.greatestID() }) {
            var last: BSONValue?
            let usual = ChunkSize(job.job.limits, averageSize: plan.averageSize).documents
            var size = usual
            var failures: [Failure] = []
            while last.map({ !upper.hasSameBytes(as: $0) }) ?? true, !stop.isRaised {
                let (after, soFar) = (last, count)
                let chunk = try patience.bridging { try chunker.chunk(after: after, upper: upper, documents: size) }
                // Read again as a whole after a failure, so a chunk is counted once.
                let counted: PreviewCount
                let documents: Int
                do {
                    (counted, documents) = try patience.bridging { try soFar.adding(chunk, of: collection) }
                } catch let error as MongoError where error.isOfOneDocument {
                    // One that a run would set aside ends the look at its chunk: it is looked for by halves.
                    if size == 1 {
                        failures.append(Failure(chunk.through, error, phase: 0))
                        last = chunk.through
                    }
                    size = max(1, size / 2)
                    continue
                }
                size = min(usual, size * 2)
                let modified = counted.modified - soFar.modified
                report.chunks += modified > 0 ? 1 : 0
                count = counted
                last = chunk.through
                events(.chunk(documents: documents, modified: modified))
            }
            report.failures = BackfillReport.FailureGroup.all(of: failures)
            if stop.isRaised { report.outcome = .stopped(.signal) }
        }
        report.modified = count.modified
        report.samples = count.samples
        report.unsyncable = job.next == nil ? nil : (count.failingBefore, count.failingAfter)
        report.harm = job.countsHarm ? plan.harm : nil
        report.headroom = plan.headroom
        report.notes = plan.notes
        do { try checkHarm(of: plan) } catch { report.refusal = error.message }
        report.seconds = started.duration(to: .now).seconds
        report.estimate = RunEstimate(
            RunEstimate.Measured(
                seconds: report.seconds, changed: count.modified, touchedBytes: count.touchedBytes,
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

/// What a dry run counts.
private struct PreviewCount {
    let job: CompiledJob
    var modified = 0
    var failingBefore = 0
    var failingAfter = 0
    var samples: [BackfillReport.Sample] = []
    /// Bytes of the touched fields of the changed documents as they would be, of their `_id`s, and of the journal.
    var touchedBytes = 0
    var idBytes = 0
    var journalBytes = 0

    /// The count with a chunk's documents added, and how many they are.
    func adding(_ chunk: Chunk, of collection: MongoCollection) throws -> (PreviewCount, documents: Int) {
        var count = self
        var documents = 0
        let touched = job.whole.touched
        var journal = ChunkJournal(touched: touched)
        var preview = Preview(chunk, through: job.whole, in: job.context(collection), onlyNeeding: false)
        while let outcome = try preview.next() {
            documents += 1
            try count.add(outcome)
            guard let before = outcome.before else { continue }
            try journal.add(before: before, after: outcome.after)
            let view = outcome.after.view
            if let id = try view.find("_id") { count.idBytes += id.valueLength + 5 }
            for name in touched {
                if let element = try view.find(name) { count.touchedBytes += name.utf8.count + 2 + element.valueLength }
            }
        }
        count.journalBytes += journal.bytes
        return (count, documents)
    }

    private mutating func add(_ outcome: Preview.Outcome) throws {
        let failsAfter = try job.next.map { try $0.check(outcome.after.view) == .certain } ?? false
        if failsAfter { failingAfter += 1 }
        guard let before = outcome.before else {
            if failsAfter { failingBefore += 1 }
            return
        }
        if try job.next.map({ try $0.check(before.view) == .certain }) ?? false { failingBefore += 1 }
        modified += outcome.changes
        guard !outcome.isOpen else {
            throw BackfillError(
                .notIdempotent, "job \"\(job.job.name)\" would never end: a document still needs it after it")
        }
        if samples.count < Survey.samples { samples.append(try sample(before, outcome.after)) }
    }

    private func sample(_ before: BSONDocument, _ after: BSONDocument) throws -> BackfillReport.Sample {
        var seen: Set<FieldPath> = []
        let paths = job.steps.flatMap { $0.step.sources + $0.step.targets }.map(\.untilElements).filter {
            seen.insert($0).inserted
        }
        return BackfillReport.Sample(
            id: after["_id"] ?? .null, before: try paths.map { ($0.description, try before.value(at: $0)) },
            after: try paths.map { ($0.description, try after.value(at: $0)) })
    }
}
