import BSON
package import Backfill
import Checking
package import Concurrency
package import JobState
import Jobs
package import Mongo
import Scanning
import ServerSchema

/// Plans and makes a partner: the same collection in the shape of another schema.
///
/// Everything here blocks, and belongs on a thread of our own.
package struct PartnerRunner: Sendable {
    let partner: Partner
    let options: RunOptions
    let stop: StopSignal
    let events: @Sendable (RunEvent) -> Void

    /// Joins a job and the way to run it; `events` is called on any of the runner's threads.
    package init(
        _ partner: Partner, options: RunOptions, stop: StopSignal, events: @Sendable @escaping (RunEvent) -> Void
    ) {
        (self.partner, self.options, self.stop, self.events) = (partner, options, stop, events)
    }

    var job: PartnerJob { partner.job }

    var retry: RetryPolicy { RetryPolicy(limit: options.retryLimit, stop: stop, events: events) }

    /// Refuses what cannot be a pair, before anything is looked at.
    func check(on client: borrowing Client) throws {
        for side in PartnerSide.allCases {
            guard job.namespace(side).database != options.stateDatabase else {
                throw BackfillError(
                    .unsupportedCollection, "\(job.namespace(side)) lies in the state database: name another collection"
                )
            }
        }
        for side in PartnerSide.allCases {
            try partner.steps(from: side).check(by: client.collection(job.namespace(side)))
        }
    }

    /// What the state database knows of the partner.
    func state(_ pool: ClientPool) throws -> PartnerState {
        let client = StoreClient(database: options.stateDatabase, client: try pool.client())
        return PartnerState(
            try retry.run {
                try client.first(StateStore.streams, ["_id": ["job": .string(partner.stateName), "range": 0]])
            })
    }

    /// The collection that is there.
    func original(on client: borrowing Client) throws -> CollectionInfo {
        guard let info = try client.readableCollection(job.source) else {
            let names = try client.listCollections(of: job.source.database).map(\.name)
            let hint = Spelling.hint(for: job.source.collection, among: names).map { " (\($0))" } ?? ""
            throw BackfillError(.unknownCollection, "there is no collection \(job.source)\(hint)")
        }
        guard info.kind == .collection else {
            throw BackfillError(.unsupportedCollection, "\(job.source) is a \(info.kind): it can have no partner")
        }
        return info
    }
}

// MARK: planning

extension PartnerRunner {
    /// Looks at every original, at the state and at the ledger; nothing is written.
    /// - Throws: ``BackfillError`` when the job cannot run; ``MongoError``; ``StopAsked``.
    package func plan(on pool: ClientPool) throws -> PartnerPlan {
        let client = try pool.client()
        try check(on: client)
        let state = try state(pool)
        try state.check(job)
        var plan = PartnerPlan(name: job.name, source: job.source, target: job.target)
        let info = try original(on: client)
        plan.documents = try client.collection(job.source).estimatedCount()
        guard state.phase == nil else {
            (plan.copiedBefore, plan.isDone) = (state.copied, state.phase != .copying)
            return plan
        }
        if try client.readableCollection(job.target) != nil {
            let count = try client.collection(job.target).estimatedCount()
            throw BackfillError(
                .unsupportedCollection,
                "\(job.target) is there already, and \(count == 0 ? "is empty" : "holds documents"): a partner is made anew; drop "
                    + "it, or name another target")
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
                "the validator of \(job.source) is not set on the partner: \(found.unfit) of its documents would not fit it"
            )
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
        if let schema = partner.schemas[.target], !schema.isOfValidator {
            let ledger = try ledger(on: pool)
            plan.headroom = Headroom(ledger: try ledger.entries(), pending: 0, ceiling: job.limits.ceiling)
        }
        return plan
    }

    func ledger(on pool: ClientPool) throws -> UnsyncLedger {
        UnsyncLedger(options.ledger, of: options.apps.orOf(partner.appIDs), client: try pool.client())
    }

    /// Refuses a partner whose documents would not sync, and for which the limit has no room.
    package func checkHarm(of plan: PartnerPlan) throws(BackfillError) {
        guard let headroom = plan.headroom, plan.failing > headroom.documents, plan.failing > options.allowUnsync ?? 0
        else { return }
        throw BackfillError(
            .harmExceedsHeadroom,
            "\(plan.failing) documents of \(plan.target) would not sync under its schema, and there is room for "
                + "\(headroom.documents) (\(headroom)); change the steps or repair the originals first, or accept it with "
                + "--allow-unsync \(plan.failing)")
    }
}
