import BSON
import Checking
import ServerSchema

@testable import JobReports
@testable import Jobs
@testable import Running
@testable import Steps

extension BackfillReport {
    /// Returns the report of a job with two steps, each of which skipped documents.
    static func fixture(_ outcome: Outcome) -> BackfillReport {
        let id = BSONValue.objectID(ObjectID(high: 0x507f_1f77_bcf8_6cd7, low: 0x9943_9011))
        let parent = StepCount.Skipped(
            reason: "parent is missing", isTrouble: false, count: 29_856, samples: [id, 7, "x", 9])
        let loss = StepCount.Skipped(reason: "cannot be converted", isTrouble: true, count: 2, samples: [.long(5)])
        let none = StepCount.Skipped(reason: "never shown", isTrouble: true, count: 0, samples: [])
        var report = BackfillReport(
            job: "person-v2", namespace: Namespace(database: "app", collection: "Person"), outcome: outcome,
            estimatedDocuments: 100_000,
            before: [
                StepCount(step: "convert age to int", needing: 1_789, skipped: [loss, none]),
                StepCount(step: "default a.b: a value of type string", needing: 1, skipped: [parent]),
            ],
            after: [
                StepCount(step: "convert age to int", needing: 0, skipped: [loss, none]),
                StepCount(step: "default a.b: a value of type string", needing: 0, skipped: [parent]),
            ])
        (report.work.modified, report.work.chunks, report.work.seconds) = (1_790, 20, 5.84)
        (report.madeUnsyncable, report.headroom) = (
            1_200, Headroom(ledger: LedgerCount(entries: 1_292, documents: 1_292), pending: 10, ceiling: 90_000)
        )
        report.notes = ["irreversible: \"age\" is converted in place"]
        return report
    }

    /// The report of a dry run, which shows two documents before and after the job.
    static var dryRun: BackfillReport {
        var report = fixture(.dryRun)
        report.unsyncable = (before: 18_523, after: 2, dialect: .appServices)
        report.samples = [
            Sample(
                id: 1, before: [("age", "36"), ("a.b", nil)], after: [("age", 36), ("a.b", nil)]),
            Sample(id: "x", before: [("age", 36), ("a.b", nil)], after: [("age", 36), ("a.b", "US")]),
        ]
        return report
    }
}

extension BackfillPlan {
    /// Returns the plan that the run of the job in ``BackfillReport/fixture(_:)`` shows before it starts.
    static func fixture(needing: Int = 1_790, resumesAfter: Int? = nil) -> BackfillPlan {
        let report = BackfillReport.fixture(.done)
        let target = Target(uuid: nil, checksUUID: false, averageSize: nil, validator: nil)
        var plan = BackfillPlan(
            job: report.job, namespace: report.namespace, documents: report.estimatedDocuments, target: target,
            needing: needing, before: report.before, after: report.after, resumesAfter: resumesAfter,
            notes: report.notes)
        (plan.risk.headroom, plan.risk.madeUnsyncable) = (report.headroom, 1_200)
        return plan
    }
}
