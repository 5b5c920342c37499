import BSON
import LocatedYAML
import Mongo
import ServerSchema

/// Takes the fields away by which a job's steps know what they did.
///
/// A job of its own, `JOB.cleanup`, so that it runs fenced and in chunks, and one that died is gone on with. Once the
/// fields are gone every document would need the job anew: the mark that the job is cleaned up has to stand before.
struct MarkerRemoval {
    let job: Job
    let pool: ClientPool
    let stateDatabase: String

    /// The fields that documents still have.
    func present() throws(MongoError) -> [FieldPath] {
        let collection = try pool.client().collection(job.namespace)
        var present: [FieldPath] = []
        for marker in Self.markers(of: job) {
            let filter: BSONDocument = ["$expr": (!Expression.field(marker).isMissing).bson]
            var cursor = collection.find(filter, options: ["projection": ["_id": 1], "limit": 1])
            if try cursor.nextDocument() != nil { present.append(marker) }
        }
        return present
    }

    /// The fields of all steps.
    static func markers(of job: Job) -> [FieldPath] {
        var seen: Set<FieldPath> = []
        return job.steps.compactMap { $0.step.kind.marker }.filter { seen.insert($0).inserted }
    }

    /// Takes them away.
    /// - Throws: ``BackfillError``; ``MongoError``; then the next clean-up goes on.
    func run(_ markers: [FieldPath]) throws {
        guard !markers.isEmpty else { return }
        var removal = job
        removal.name = "\(job.name).cleanup"
        (removal.activeSchema, removal.nextSchema) = (nil, nil)
        removal.text = "the markers of job \(job.name): \(markers.map(\.description).joined(separator: ", "))"
        removal.steps = markers.map {
            Job.LocatedStep(
                step: Step(UnsetStep(field: $0)), location: SourceLocation(file: job.path, line: 1, column: 1))
        }
        var options = RunOptions()
        options.stateDatabase = stateDatabase
        options.keepsJournal = false
        options.ledger = .none
        let runner = BackfillRunner(
            try CompiledJob(removal, active: nil, next: nil), options: options, stop: StopSignal(), events: { _ in })
        _ = try runner.run(try runner.plan(on: pool), on: pool)
    }
}
