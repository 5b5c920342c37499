import BSON
import Checking
import Concurrency
package import JobReports
import JobState
import Jobs
import Mongo
import Running
import Scanning
import SchemaChange
package import ServerSchema
import Steps

/// The evidence that a job's next schema is deployed.
package enum DeployEvidence: Hashable, Sendable {
    /// The collection's own validator is the next schema.
    case validator
    /// Only the operator says that the schema is deployed; the associated text says why this was not verified.
    case word(String)
}

extension JobRegistry {
    /// Returns the evidence that a job's next schema is the active one.
    ///
    /// If `next` has a `$jsonSchema` for the job's collection, the function compares it with the collection's
    /// validator.
    /// - Parameter next: the job's next schema; `nil` if its file is not known.
    /// - Throws: ``RunError`` when no such job was started, when it names no next schema, or when the validator is
    ///   another schema; ``MongoError``.
    package func deployEvidence(of job: String, next: ServerSchema?) throws -> DeployEvidence {
        let store = try store(job)
        guard let record = try store.jobs.record() else { throw try unknown(job) }
        let roles = record["schemas"]?.document?.values.compactMap { $0.document?["role"]?.text } ?? []
        guard roles.contains("next"), let namespace = record["ns"]?.text.flatMap({ Namespace($0) }) else {
            throw RunError(
                .schemaMismatch,
                "job \"\(job)\" names no next schema, so there is no deploy to record")
        }
        guard let next else { return .word("only the job's name was given; give its file to compare the validator") }
        guard let schema = next[namespace], schema.dialect == .jsonSchema else {
            let owner = next[namespace]?.dialect == .prisma ? "a Prisma client" : "a sync engine"
            return .word("\(owner)'s schema cannot be read from the deployment")
        }
        let infos = try store.client.client.listCollections(
            of: namespace.database, options: ["filter": ["name": .string(namespace.collection)]])
        guard infos.first?.validator?["$jsonSchema"] != nil else { return .word("\(namespace) has no validator") }
        let live = try LiveSchema.read(from: store.client.client, namespace: namespace)
        guard let carried = live[namespace] else { return .word("\(namespace) has no validator") }
        let changes = SchemaDiff.changes(from: carried, to: schema)
        guard let first = changes.first else { return .validator }
        throw RunError(
            .schemaMismatch,
            "the validator of \(namespace) is not the next schema of job \"\(job)\": \(first.code) at "
                + "\(first.path.isRoot ? "the root" : first.path.description)"
                + (changes.count > 1 ? " and \(changes.count - 1) more" : "") + "; nothing was recorded")
    }

    /// Records that a job's next schema is the active one; from the next chunk on, the job judges documents by that
    /// schema.
    /// - Throws: ``RunError`` when no such job was started, or it was undone; ``MongoError``.
    package func deployed(_ job: String, by evidence: DeployEvidence) throws {
        try checkNotUndone(job)
        let store = try store(job)
        // The job's record is read first, so that a damaged record is reported instead of changed.
        _ = try store.jobs.record()
        guard try store.jobs.recordDeploy(isVerified: evidence == .validator, by: person) != nil else {
            throw try unknown(job)
        }
    }

    /// Returns the names of the jobs in `entries` that wait for the deploy of their next schemas.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``.
    package func waitingForDeploy(_ entries: [JobFolder.Entry]) throws -> Set<String> {
        let waiting = try entries.filter { entry in
            guard entry.parsed.requiresDeploy, let job = try? entry.job else { return false }
            return try store(entry.name).jobs.deployMark(of: job.job.namespace, schemas: job.schemaRecords) == nil
        }
        return Set(waiting.map(\.name))
    }

    /// The most documents that a collection may hold for ``left(by:)`` to read it.
    package static let mostCounted = 1_000_000

    /// Returns how many documents need each job now, by the jobs' names.
    ///
    /// A job is left out if its schemas cannot be read any more, or if its collection cannot be backfilled, may not be
    /// read, or holds more than ``mostCounted`` documents.
    /// - Throws: ``MongoError``; ``JobError``.
    package func left(by entries: [JobFolder.Entry]) throws -> [String: Int] {
        let client = try pool.client()
        var left: [String: Int] = [:]
        for entry in entries {
            guard let job = try? entry.job else { continue }
            do {
                let collection = client.collection(job.job.namespace)
                guard try collection.estimatedCount() <= Self.mostCounted else { continue }
                left[entry.name] = try JobSurvey(of: job, on: client).needing
            } catch let error as MongoError where error.isAuthorization {
            } catch is RunError {}
        }
        return left
    }

    /// Removes the record of a deploy, because the next schema is not the active one after all.
    /// - Returns: whether a deploy was recorded.
    /// - Throws: ``RunError`` when no such job was started; ``MongoError``.
    package func revokeDeploy(_ job: String) throws -> Bool {
        guard let record = try store(job).jobs.record() else { throw try unknown(job) }
        guard Control(record).deployed != nil else { return false }
        try steer(job, ["control.deployed": "$$REMOVE"], "the next schema is not the active one after all")
        return true
    }
}

/// The release of places in the unsync budget that jobs reserved for documents which fit the active schema now.
extension JobRegistry {
    /// Releases the reservations of documents in the job's collection that fit the job's active schema.
    ///
    /// The function examines the reservations of all jobs of this collection, except jobs whose lease a runner holds. A
    /// document keeps its reservation while the ledger of unsynced documents may still list it.
    /// - Returns: how many of the examined documents fit or no longer exist; `nil` if that is unknown, for example
    ///   because a schema or a privilege is missing.
    package func freeRoom(of job: String) throws -> Int? {
        let store = try store(job)
        guard let record = try store.jobs.record(),
            let compiled = try? StoredJob.compile(record, assuming: CheckOptions()), compiled.countsUnsyncable
        else { return nil }
        let client = try pool.client()
        let budget = UnsyncBudget(
            job: compiled, collection: client.collection(compiled.job.namespace),
            ledger: UnsyncLedger(LedgerScope().orOf(compiled.appIDs), client: try pool.client()),
            limits: compiled.job.limits,
            stop: StopSignal())
        do {
            return try budget.freeRepaired(store, including: [])
        } catch let error as MongoError where error.isAuthorization {
            return nil
        } catch is LedgerUnreadable {
            return nil
        }
    }
}
