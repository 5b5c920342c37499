package import BSON
import Checking
package import JobReports
package import JobState
package import Jobs
import LocatedYAML
package import Mongo
import ServerSchema
import Steps

/// The jobs of a state database, as operators see and steer them from any machine.
package struct JobRegistry: Sendable {
    let stateDatabase: String
    let pool: ClientPool
    /// The name of the operator, as logs show it.
    let person: String

    /// Creates a registry for the state database of the given name, without opening a connection.
    package init(_ stateDatabase: String, on pool: ClientPool, as person: String = Operator.current) {
        self.stateDatabase = stateDatabase
        self.pool = pool
        self.person = person
    }

    func store(_ job: String) throws(MongoError) -> StateStore {
        StateStore(
            client: StoreClient(database: stateDatabase, client: try pool.client()), job: job,
            identity: RunnerIdentity.current(), terms: LeaseTerms(duration: .seconds(30)))
    }

    /// Returns the states of the started jobs among `jobs`, with the jobs' names as keys.
    ///
    /// A state is a word such as `done` or `undone`, as the job's last runner stored it.
    package func states(of jobs: [String]) throws(MongoError) -> [String: String] {
        let client = StoreClient(database: stateDatabase, client: try pool.client())
        let names = BSONValue.array(of: jobs.map { .string($0) })
        var cursor = client.all("ranges", ["_id.job": ["$in": names]])
        var states: [String: String] = [:]
        while let range = try cursor.nextDocument() {
            if let job = range["_id"]?.document?["job"]?.text, let state = range["state"]?.text { states[job] = state }
        }
        return states
    }

    /// Returns the collections that a job reads or writes, according to the job's record in the state database; `nil`
    /// if no job of that name was started.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``.
    package func reach(of job: String) throws -> JobReach? {
        guard let record = try store(job).jobs.record(),
            let namespace = record["ns"]?.text.flatMap({ Namespace($0) })
        else { return nil }
        // If this version cannot read the stored text of the job file, only the collection that the job changes is
        // known. A command that needs the text reports the error.
        let compiled = try? StoredJob.compile(record, assuming: CheckOptions())
        return compiled.map(JobReach.init) ?? JobReach(collection: namespace)
    }

    /// Returns the names of all jobs that were ever started.
    package func names() throws(MongoError) -> [String] {
        let client = StoreClient(database: stateDatabase, client: try pool.client())
        return try client.ids("jobs").compactMap(\.text)
    }

    /// Returns the error for a job name under which no job was started.
    func unknown(_ job: String) throws(MongoError) -> RunError {
        let names = try names()
        let hint = Spelling.hint(for: job, among: names).map { " (\($0))" } ?? ""
        let known = names.isEmpty ? "no job was" : "started jobs: \(names.prefix(20).joined(separator: ", "))"
        return RunError(
            .unknownJob, "no job \"\(job)\" was started in the state database \"\(stateDatabase)\"\(hint); \(known)")
    }

    /// Returns the state of a job; `nil` if no job of that name was started.
    /// - Parameter stalledAfter: how long a job may be silent before it counts as stalled.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``.
    package func status(of job: String, stalledAfter: Duration) throws -> JobStatus? {
        let store = try store(job)
        // The server's time is read with the records, because the end of the lease is compared with it.
        guard let record = try store.client.firstChecked("jobs", ["_id": .string(job)], adding: ["now": "$$NOW"]) else {
            return nil
        }
        let range = try store.ranges.document(adding: ["now": "$$NOW"])
        let now = ServerTime(range?["now"]) ?? ServerTime(record["now"]) ?? ServerTime(milliseconds: 0)
        var status = JobStatus(record, range: range, now: now, stalledAfter: stalledAfter)
        status.skipped = try store.client.counts("failed", ["_id.job": .string(job)], by: "code").map {
            (code: $0["_id"]?.text ?? $0["_id"]?.integer.map { "\($0)" } ?? "unknown", count: $0["count"]?.integer ?? 0)
        }
        status.pendingReservations = try store.client.count("harm", ["_id.job": .string(job), "seen": false])
        if status.work.processed != nil, status.work.estimate == nil, let namespace = status.namespace {
            // A count by metadata needs the privilege `find` on the collection. Without it, the status shows no share
            // of the work.
            status.work.estimate = try? store.client.client.collection(namespace).estimatedCount()
        }
        return status
    }

    /// Returns the states of all jobs, in the order of their names.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``.
    package func all(stalledAfter: Duration) throws -> [JobStatus] {
        var all: [JobStatus] = []
        for name in try names() {
            if let status = try status(of: name, stalledAfter: stalledAfter) { all.append(status) }
        }
        return all
    }

    /// Returns the state of a job.
    ///
    /// If the job's file is given, the job need not have been started.
    /// - Throws: ``RunError``, for example when no job of that name was started, and no file is given; ``MongoError``.
    package func status(of job: String, of file: Job?, stalledAfter: Duration) throws -> JobStatus {
        if let status = try status(of: job, stalledAfter: stalledAfter) { return status }
        guard let file else { throw try unknown(job) }
        var status = JobStatus(job: job, now: ServerTime(milliseconds: 0))
        status.namespace = file.namespace
        return status
    }

    /// Makes a job wait until an operator resumes it.
    /// - Throws: ``RunError`` when no such job was started, or it was undone; ``MongoError``.
    package func pause(_ job: String, note: String?) throws {
        try checkNotUndone(job)
        var fields: BSONDocument = [:]
        if let note { fields = ["note": .string(note)] }
        try steer(
            job, ["control.paused": JobStore.mark(by: person, fields)], "paused" + (note.map { ": \($0)" } ?? ""))
    }

    /// Ends a job's pause.
    /// - Returns: the pause that was in force; `nil` if there was none.
    /// - Throws: ``RunError`` when no such job was started; ``MongoError``.
    package func resume(_ job: String) throws -> Control.Mark? {
        guard let record = try store(job).jobs.record() else { throw try unknown(job) }
        guard let paused = Control(record).paused else { return nil }
        try steer(job, ["control.paused": "$$REMOVE"], "resumed")
        return paused
    }

    /// Refuses to steer a job that was undone, because it never runs again.
    func checkNotUndone(_ job: String) throws {
        guard let undo = try store(job).ranges.undoing(), undo.ended != nil else { return }
        throw undo.refusal(of: job)
    }

    /// Holds the job's lease while `body` runs, so that no runner can hold the job.
    ///
    /// `body` must call its argument at intervals to keep the lease.
    /// - Throws: ``RunError`` of kind `leaseHeld` when a runner holds the job; ``MongoError``; the errors of `body`.
    func withLease(
        of job: String, _ store: borrowing StateStore, for use: RangeStore.Use, orElse remedy: String,
        _ body: (_ keep: () throws -> Void) throws -> Void
    ) throws {
        _ = try store.sessions.endDead(except: store.identity.owner)
        guard case .taken(let first, _) = try store.ranges.acquire(for: use) else {
            throw RunError(.leaseHeld, "job \"\(job)\" is held by a runner: \(remedy)")
        }
        var heldLease = HeldLease(lease: first, askedAt: .now)
        func renew() throws {
            let askedAt = ContinuousClock.now
            heldLease.renew(try store.ranges.renew(heldLease.lease).0, askedAt: askedAt)
        }
        // The work is done, or failed, whether or not the server takes the release: the lease ends by itself.
        defer { try? store.ranges.release(heldLease.lease) }
        try renew()
        try body { if heldLease.isHalfOver { try renew() } }
    }

    func steer(_ job: String, _ changes: BSONDocument, _ what: String) throws {
        // The job's record is read before it is changed, so that a damaged record is reported and stays unchanged.
        _ = try store(job).jobs.record()
        guard try store(job).jobs.steer(changes, what: what, by: person) != nil else { throw try unknown(job) }
    }

    package struct LimitInForce: Hashable, Sendable {
        /// The limit's name below `limits` in a job file.
        package var name: String
        /// The limit's value, as it is written in a job file.
        package var value: String
        /// Whether an operator set the limit for this job.
        package var isOverridden: Bool
    }

    /// Sets limits of a started job; an empty value restores the limit of the job file.
    /// - Throws: ``JobError`` for a limit that a job file cannot have; ``RunError``; ``MongoError``.
    package func tune(_ job: String, _ changes: [LimitOverride]) throws {
        try checkNotUndone(job)
        let (parsed, control) = try read(job)
        let known = parsed.limits.entries.map(\.name)
        for change in changes where !known.contains(change.name) { throw Self.unknownLimit(change.name, among: known) }
        let names = Set(changes.map(\.name))
        let all = control.limits.filter { !names.contains($0.name) } + changes.filter { !$0.value.isEmpty }
        _ = try parsed.limits(overriddenBy: all)
        var builder = BSONBuilder()
        for change in changes {
            builder.append(
                "control.limits.\(change.name)",
                change.value.isEmpty ? "$$REMOVE" : ["$literal": .string(change.value)])
            if let alias = Limit.named(change.name)?.alias { builder.append("control.limits.\(alias)", "$$REMOVE") }
        }
        let what = changes.map { "\($0.name)=\($0.value.isEmpty ? "(the file's)" : $0.value)" }
        try steer(job, builder.finish(), "set \(what.joined(separator: " "))")
    }

    /// Returns every limit of a job with the value that is in force.
    /// - Throws: ``JobError``; ``RunError`` when no such job was started; ``MongoError``.
    package func limits(of job: String) throws -> [LimitInForce] {
        let (parsed, control) = try read(job)
        let overridden = Set(control.limits.map(\.name))
        return try parsed.limits(overriddenBy: control.limits).entries.map { name, value in
            LimitInForce(name: name, value: value, isOverridden: overridden.contains(name))
        }
    }

    package static func unknownLimit(_ name: String, among known: [String]) -> JobError {
        let hint = Spelling.hint(for: name, among: known).map { " (\($0))" } ?? ""
        return JobError("there is no limit \"\(name)\"\(hint); limits: \(known.joined(separator: ", "))")
    }

    private func read(_ job: String) throws -> (Job, Control) {
        guard let record = try store(job).jobs.record() else { throw try unknown(job) }
        return (try JobFile.parse(past: record["text"]?.text ?? "", path: "job \(job)"), Control(record))
    }
}

/// Binds a job to the collection of the same name that replaced the job's collection, and has another UUID.
extension JobRegistry {
    /// Compares the documents of the collection that exists now with the job's journal; nothing is written.
    /// - Returns: the comparison; `nil` if the job is already bound to the existing collection.
    /// - Throws: ``RunError``, for example when no such job was started, or a runner holds the job; ``MongoError``.
    package func planRebinding(of job: String, on named: Namespace? = nil) throws -> RebindPlan? {
        let store = try store(job)
        guard let record = try store.jobs.record() else { throw try unknown(job) }
        try store.checkVersion(of: record)
        let namespace = try RecordedCollection(named: named, stateDatabase: stateDatabase).namespace(of: record, job)
        let (was, now) = (record["uuid"] ?? .null, try uuid(of: namespace, store))
        guard was != now else { return nil }
        guard try store.ranges.otherHolder() == nil else {
            throw RunError(.leaseHeld, "job \"\(job)\" is held by a runner: rebind it when that runner is done")
        }
        var plan = RebindPlan(job: job, namespace: namespace, was: was, now: now)
        try plan.compare(store)
        return plan
    }

    /// Takes the job's lease, and binds the job to the collection for which the plan was made.
    /// - Throws: ``RunError`` of kind `leaseHeld` when a runner holds the job; of kind `bindingChanged` when the
    ///   collection is not the one on which the job was started, or when the job or the collection changed after the
    ///   plan was made; ``MongoError``.
    package func rebind(_ plan: RebindPlan) throws {
        guard !plan.isAnother else {
            throw RunError(
                .bindingChanged,
                "job \"\(plan.job)\" stays bound to the collection that it was started on: most documents in its "
                    + "journal are gone from \(plan.namespace) as it is now, or are other documents there; give the "
                    + "job a new name")
        }
        let store = try store(plan.job)
        try withLease(of: plan.job, store, for: .rebinding, orElse: "rebind it when that runner is done") { _ in
            guard try store.jobs.record()?["uuid"] == plan.was, try uuid(of: plan.namespace, store) == plan.now else {
                throw RunError(
                    .bindingChanged,
                    "nothing was changed: the job or \(plan.namespace) changed in the meantime; run it again")
            }
            try store.jobs.steer(
                ["uuid": ["$literal": plan.now]], what: "bound to \(plan.namespace), which has a new UUID",
                by: person)
        }
    }

    private func uuid(of namespace: Namespace, _ store: borrowing StateStore) throws -> BSONValue {
        try Target.find(namespace, on: store.client.client).uuid ?? .null
    }
}

/// The records of the jobs that migrations have applied.
extension JobRegistry {
    /// Returns the records of all jobs that migrations have completed, in the order of the jobs' names.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``.
    package func applied() throws -> [AppliedJob] {
        let client = StoreClient(database: stateDatabase, client: try pool.client())
        return try client.allChecked("migrations", [:]).compactMap(AppliedJob.init).sorted { $0.job < $1.job }
    }

    /// Returns what happened to each started job among `names`, such as its deploy or its undo, with the jobs' names as
    /// keys.
    /// - Throws: ``RunError`` for a damaged record; ``MongoError``.
    package func aftermath(of names: [String]) throws -> [String: JobAftermath] {
        let begun = Set(try self.names()).intersection(names)
        var all: [String: JobAftermath] = [:]
        for name in begun {
            let store = try store(name)
            let record = try store.jobs.record() ?? [:]
            var aftermath = JobAftermath(
                deployed: Control(record).deployed?.at,
                schemas: record["schemas"]?.document?.values.compactMap(\.document) ?? [])
            if let undo = try store.ranges.undoing(), undo.ended != nil { aftermath.undone = undo.refusal(of: name) }
            all[name] = aftermath
        }
        return all
    }

    /// Records a job as applied.
    ///
    /// If the job is recorded already, its record stays as it is; with `isAgain`, the record is updated. If a run dies
    /// before the job is recorded, the next run records it.
    /// - Parameter isAgain: whether the job was applied before and has run again.
    package func record(_ entry: JobFolder.Entry, hasFindings: Bool, isAgain: Bool = false) throws(MongoError) {
        let client = StoreClient(database: stateDatabase, client: try pool.client())
        try client.createIfAbsent(
            "migrations", id: .string(entry.name),
            [
                "file": .string(entry.file), "digest": .string(entry.digest), "by": .string(person),
                "findings": .bool(hasFindings),
            ])
        guard isAgain else { return }
        try client.set(
            "migrations", ["_id": .string(entry.name)],
            ["created": "$$NOW", "by": ["$literal": .string(person)], "findings": .bool(hasFindings)])
    }
}

extension AppliedJob {
    fileprivate init?(_ document: BSONDocument) {
        guard let job = document["_id"]?.text, let digest = document["digest"]?.text else { return nil }
        self.init(
            job: job, file: document["file"]?.text ?? "", digest: digest,
            mark: Control.Mark(
                by: document["by"]?.text ?? "unknown", at: ServerTime(document["created"]), note: nil),
            hasFindings: document["findings"] == .bool(true))
    }
}
