import BSON
import Checking
package import Concurrency
package import JobState
import Jobs
package import Mongo
package import Running
import Scanning
import ServerSchema
import Steps

/// Plans and creates a partner: a second collection that holds the original collection's data in the shape of another
/// schema.
///
/// The functions block, so call them on a separate thread, not on a thread of Swift's concurrency.
package struct PartnerRunner: Sendable {
    let partner: Partner
    let options: RunOptions
    let stop: StopSignal
    let events: @Sendable (RunEvent) -> Void

    /// Creates a runner; `events` is called on any of the runner's threads.
    package init(
        _ partner: Partner, options: RunOptions, stop: StopSignal, events: @Sendable @escaping (RunEvent) -> Void
    ) {
        (self.partner, self.options, self.stop, self.events) = (partner, options, stop, events)
    }

    var job: PartnerJob { partner.job }

    var retry: RetryPolicy { RetryPolicy(limit: options.retryLimit, stop: stop, events: events) }

    /// Throws if one of the collections cannot be used, or if a step cannot run.
    func check(on client: borrowing Client) throws {
        try job.checkNamespaces(stateDatabase: options.stateDatabase)
        for side in PartnerSide.allCases {
            try partner.steps(from: side).check(by: client.collection(job.namespace(side)))
        }
    }

    func state(_ pool: ClientPool) throws -> PartnerState {
        let client = StoreClient(database: options.stateDatabase, client: try pool.client())
        return PartnerState(
            try retry.run {
                try client.first(
                    StateStore.streams, ["_id": ["job": .string(partner.stateName), "range": 0]],
                    adding: ["now": "$$NOW"])
            })
    }

    /// Takes the partner's lease, and returns the kernel that holds it.
    /// - Parameter limits: the limits for the throttle; with `nil`, the kernel has no throttle.
    /// - Throws: ``RunError`` of kind `leaseHeld` when another runner holds the lease; ``MongoError``.
    func kernel(limits: Job.Limits? = nil, on pool: ClientPool) throws -> Kernel {
        try Kernel.following(
            partner.stateName, options, limits: limits, on: pool, stop: stop, events: events,
            freeing: { try endDeadTransactions(on: pool) })
    }

    /// Ends the transactions of mirrors whose lease has ended.
    ///
    /// The server would keep the transaction of a killed mirror open for a minute or more. Until then, the transaction
    /// locks the documents that the mirror wrote, and the lease's document in the state database.
    private func endDeadTransactions(on pool: ClientPool) throws {
        let state = try state(pool)
        guard !state.isHeld, !state.sessions.sessions.isEmpty else { return }
        // An error is ignored, for example if the user lacks the privilege to end the transactions. The server then
        // ends the transactions by itself after a time.
        try? pool.client().killSessions(state.sessions.sessions)
    }

    /// Returns the metadata of the original collection.
    /// - Throws: ``RunError`` when there is no such collection, or when it is a view or of another special kind;
    ///   ``MongoError``.
    func original(on client: borrowing Client) throws -> CollectionInfo {
        guard let info = try client.readableCollection(job.source) else {
            let names = try client.listCollections(of: job.source.database).map(\.name)
            let hint = Spelling.hint(for: job.source.collection, among: names).map { " (\($0))" } ?? ""
            throw RunError(.unknownCollection, "there is no collection \(job.source)\(hint)")
        }
        guard info.kind == .collection else {
            throw RunError(.unsupportedCollection, "\(job.source) is a \(info.kind): it cannot have a partner")
        }
        return info
    }
}

extension PartnerJob {
    /// Throws if the original or the partner belongs to the server, the sync service or the state database.
    /// - Throws: ``RunError`` of kind `unsupportedCollection`.
    package func checkNamespaces(stateDatabase: String) throws(RunError) {
        for side in PartnerSide.allCases { try namespace(side).check(stateDatabase: stateDatabase) }
    }
}

// MARK: planning

extension PartnerRunner {
    /// Returns the plan for creating the partner; nothing is written.
    ///
    /// As long as no document has been copied, the plan includes a check of every document of the original collection.
    /// - Throws: ``RunError`` when the job cannot run; ``MongoError``; ``StopAsked``.
    package func plan(on pool: ClientPool) throws -> PartnerPlan {
        let client = try pool.client()
        try check(on: client)
        let state = try state(pool)
        try state.check(job)
        var plan = PartnerPlan(name: job.name, source: job.source, target: job.target)
        let info = try original(on: client)
        plan.documents = try client.collection(job.source).estimatedCount()
        // If an earlier runner was killed before it had copied a document, the partner or its indexes may not exist
        // yet. The plan then contains everything, as for a first run.
        let isFirst = state.phase == nil || state.phase == .copying && state.last == nil
        guard isFirst else {
            (plan.copiedBefore, plan.isDone) = (state.copied, state.phase != .copying)
            return plan
        }
        if state.phase == nil, try client.readableCollection(job.target) != nil {
            let count = try client.collection(job.target).estimatedCount()
            throw RunError(
                .unsupportedCollection,
                "\(job.target) already exists, and \(count == 0 ? "is empty" : "holds documents"): a partner needs a "
                    + "new collection; drop it, or name another target")
        }
        let creation = PartnerCreation(partner: partner, info: info)
        let (indexes, notes) = try creation.indexes(on: client)
        plan.notes += notes
        let proof = PartnerProof(partner: partner, validator: info.validator, stop: stop)
        let found = try proof.run(on: pool, retry)
        (plan.refusals, plan.failing) = (found.refusals, found.failing)
        var validator = info.validator
        if found.unfit > 0 {
            validator = nil
            plan.notes.append(
                "the validator of \(job.source) is not set on the partner: \(found.unfit) of the partner's documents "
                    + "would not fit it")
        }
        let clashes = try creation.clashes(indexes, on: client)
        plan.clashes = clashes.clashes
        plan.notes += clashes.notes
        plan.indexes = indexes.map(\.name)
        plan.creation = [creation.command(validator: validator)]
        if !indexes.isEmpty {
            plan.creation.append([
                "createIndexes": .string(job.target.collection),
                "indexes": .array(of: indexes.map { .object($0.spec) }),
            ])
        }
        // The headroom, which is the number of documents that may still become unsyncable, is checked only before the
        // first copy begins. A run that continues a copy would subtract documents that the copy itself has reserved.
        if state.phase == nil, let schema = partner.schemas[.target], !schema.isOfValidator {
            plan.headroom = try headroom(on: pool)
        }
        return plan
    }

    func ledger(on pool: ClientPool) throws -> UnsyncLedger {
        UnsyncLedger(options.ledger.orOf(partner.appIDs), client: try pool.client())
    }

    /// Returns how many documents may still become unsyncable, without those that unfinished jobs have reserved.
    private func headroom(on pool: ClientPool) throws -> Headroom {
        let limit = SharedLimit(ledger: try ledger(on: pool), limits: job.limits)
        let store = StateStore(
            client: StoreClient(database: options.stateDatabase, client: try pool.client()), job: partner.stateName,
            identity: RunnerIdentity.current(), terms: options.lease, leases: StateStore.streams)
        return try retry.run { try limit.exactHeadroom(store, marks: false) }
    }

    /// Throws if more of the partner's documents would not sync than the limit of unsynced documents still allows.
    ///
    /// The user can accept a number of such documents with ``RunOptions/allowUnsync``.
    package func checkHeadroom(of plan: PartnerPlan) throws(RunError) {
        guard let headroom = plan.headroom, plan.failing > headroom.documents, plan.failing > options.allowUnsync ?? 0
        else { return }
        throw RunError(
            .exceedsHeadroom,
            "\(plan.failing) documents of \(plan.target) would not sync under its schema, and there is room for "
                + "\(headroom.documents) (\(headroom)): change the steps, repair the originals first, or accept them "
                + "with --allow-unsync \(plan.failing)")
    }
}
