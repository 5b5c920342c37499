import BSON
import Concurrency
import JobReports
import JobState
import Jobs
import LocatedYAML
import Mongo
import Running
import Scanning
import ServerSchema
import Steps

/// Removes the marker fields, in which documents record that a step of the job is done.
///
/// A marker field with another value than the steps wrote is not removed.
///
/// The removal is a job of its own, `JOB.cleanup`. It therefore writes in chunks and only under a lease, and can be
/// resumed if it dies. Without the marker fields, every document would need the original job again. The original job
/// must therefore be marked as cleaned up before the removal.
struct MarkerRemoval {
    let job: Job
    let pool: ClientPool
    let stateDatabase: String

    /// Returns the marker fields in which at least one document still has the value that a step wrote.
    func present() throws(MongoError) -> [FieldPath] {
        var present: [FieldPath] = []
        for marker in Self.markers(of: job) {
            if try first(RemoveMarkerStep(field: marker).isMarked) != nil { present.append(marker) }
        }
        return present
    }

    private func first(_ condition: Expression) throws(MongoError) -> BSONDocument? {
        var cursor = try pool.client().collection(job.namespace).find(
            condition.filter, options: ["projection": ["_id": 1], "limit": 1])
        return try cursor.nextDocument()
    }

    static func markers(of job: Job) -> [FieldPath] {
        var seen: Set<FieldPath> = []
        return job.steps.compactMap { $0.step.kind.marker }.filter { seen.insert($0).inserted }
    }

    /// Removes the marker fields by the job `JOB.cleanup`, and then that job's own records in the state database.
    /// - Throws: ``RunError`` when documents keep their marker fields, or the removal was asked to stop; the next
    ///   clean-up then continues. ``MongoError``.
    func run(stop: StopSignal) throws {
        let runner = try runner(stop)
        let report = try runner.run(try runner.plan(on: pool), on: pool)
        let store = StoreClient(database: stateDatabase, client: try pool.client())
        let name = BSONValue.string(name)
        // The records of the documents that the removal skipped are not needed, because this function throws an error
        // for them.
        try store.deleteAll("failed", ["_id.job": name])
        if case .stopped(let reason) = report.outcome {
            throw RunError(
                .stopped,
                "the clean-up of job \"\(job.name)\" stopped (\(reason.reason)) before all its markers were gone; run "
                    + "it again to continue")
        }
        guard report.failures.isEmpty else {
            let count = report.failures.reduce(0) { $0 + $1.count }
            let why = report.failures.map(\.name).joined(separator: ", ")
            throw RunError(
                .refusedByData,
                "the clean-up of job \"\(job.name)\" could not take the markers out of \(count) documents (\(why)), "
                    + "and dropped nothing else; fix them and run it again")
        }
        for collection in ["jobs", "ranges"] {
            try store.deleteAll(collection, ["$or": [["_id": name], ["_id.job": name]]])
        }
    }

    private var name: String { job.name + Job.cleanupSuffix }

    /// Creates the runner of the removal.
    ///
    /// A stopped job can be resumed only with the same text. The text of the removal therefore names all marker fields,
    /// even those that no document has any more.
    private func runner(_ stop: StopSignal) throws -> BackfillRunner {
        let markers = Self.markers(of: job)
        var removal = job
        removal.name = name
        (removal.activeSchema, removal.nextSchema) = (nil, nil)
        removal.text = "the markers of job \(job.name): \(markers.map(\.description).joined(separator: ", "))"
        removal.steps = markers.map {
            Job.LocatedStep(
                step: Step(RemoveMarkerStep(field: $0)), location: SourceLocation(file: job.path, line: 1, column: 1))
        }
        var options = RunOptions()
        options.stateDatabase = stateDatabase
        options.keepsJournal = false
        options.ledger.location = .none
        return BackfillRunner(
            try CompiledJob(removal, active: nil, next: nil), options: options, stop: stop, events: { _ in })
    }
}

extension MarkerRemoval {
    /// Returns a message for each marker field that documents have before the job's first run; empty if there are none.
    ///
    /// Because of such a field, the job would skip the documents as done.
    func obstacles() throws(MongoError) -> [String] {
        var obstacles: [String] = []
        for located in job.steps {
            guard let marker = located.step.kind.marker, let found = try first(!Expression.field(marker).isMissing)
            else {
                continue
            }
            let id = (try? found.extendedJSON(.relaxed)) ?? "{}"
            obstacles.append(
                "\(located.location.file):\(located.location.line):\(located.location.column): \(located.step): "
                    + "documents of \(job.namespace) have a field \"\(marker)\" already, such as \(id), and would "
                    + "count as done; in \"once\", name a field that no document has")
        }
        return obstacles
    }
}
