import BSON
package import Checking
import Jobs
import Mongo
package import ServerSchema
import Steps

/// The documents that fail before the planned repairs, and those of them that still fail afterwards.
///
/// Each document counts once.
package struct RepairCount: Sendable {
    /// The number of documents that no longer fail after the jobs.
    package var repaired = 0
    /// The number of documents that still fail, because a step skips them, by the reason.
    package var skipped: [String: Int] = [:]
    /// The number of documents that still fail, although no step skips them.
    package var left = 0

    /// The number of documents that fail now.
    var failing: Int { repaired + left + skipped.values.reduce(0, +) }

    static func + (one: RepairCount, other: RepairCount) -> RepairCount {
        RepairCount(
            repaired: one.repaired + other.repaired, skipped: one.skipped.merging(other.skipped, uniquingKeysWith: +),
            left: one.left + other.left)
    }
}

/// A check whose failing documents a plan repairs.
package struct RepairedCheck {
    let report: CheckReport
    let includesPossible: Bool
    let values: BadValues
    let judge: (CollectionSchema) -> CompiledSchema

    /// Creates the check of a plan of repairs.
    /// - Parameters:
    ///   - report: the report of the check.
    ///   - includesPossible: whether the plan is also for documents that only might fail.
    ///   - values: the distinct values of the findings.
    ///   - judge: returns the schema by which the check judged the documents of a collection.
    package init(
        _ report: CheckReport, includesPossible: Bool, _ values: BadValues,
        judge: @escaping (CollectionSchema) -> CompiledSchema
    ) {
        (self.report, self.includesPossible, self.values, self.judge) = (report, includesPossible, values, judge)
    }

    /// Counts what the jobs of a plan repair; `nil` if the count cannot be exact.
    ///
    /// It is not exact if a collection has several jobs, if the operator accepts findings as exceptions, or if other
    /// documents fail than in the check, because a rule compares documents or because they changed.
    func count(_ plan: SchemaPlan, _ planner: Planner, _ client: borrowing Client) throws -> RepairCount? {
        var total = RepairCount()
        for collection in report.collections where collection.isCounted {
            let counts = collection.counts.unexcepted
            let failing = counts.certain + (includesPossible ? counts.possible : 0)
            let jobs =
                plan.collections.first { $0.namespace == collection.namespace }?.jobs.filter { !$0.isDraft } ?? []
            guard let job = jobs.first else {
                total.left += failing
                continue
            }
            guard jobs.count == 1, collection.groups.allSatisfy({ $0.exception == nil }),
                let schema = planner.new[collection.namespace]
            else { return nil }
            let found = try count(job, planner, judge(schema), client.collection(collection.namespace), client)
            guard found.failing == failing else { return nil }
            total = total + found
        }
        return total
    }

    /// Counts the documents of one collection; the steps are evaluated only on documents that fail.
    private func count(
        _ job: PlannedJob, _ planner: Planner, _ schema: CompiledSchema, _ collection: borrowing MongoCollection,
        _ client: borrowing Client
    ) throws -> RepairCount {
        let job = try planner.compiled(job).compiled(for: client.hello().maxWireVersion).prepared(on: collection)
        let steps = StepTransformation(job)
        let level = includesPossible ? Verdict.possible : .certain
        var count = RepairCount()
        var (batch, bytes) = ([BSONDocument](), 0)
        func endBatch() throws {
            for outcome in try steps.outcomes(of: batch, by: client.collection(job.job.namespace)) {
                if try schema.check(outcome.document.view) < level {
                    count.repaired += 1
                } else if let reason = outcome.trouble {
                    count.skipped[reason.rawValue, default: 0] += 1
                } else {
                    count.left += 1
                }
            }
            (batch, bytes) = ([], 0)
        }
        var cursor = collection.find([:], options: Survey.options)
        while let document = try cursor.next() {
            guard try schema.check(document) >= level else { continue }
            batch.append(BSONDocument(copying: document))
            bytes += batch[batch.count - 1].bytes.count
            if batch.count == 1_000 || bytes > 4 << 20 { try endBatch() }
        }
        if !batch.isEmpty { try endBatch() }
        return count
    }
}
