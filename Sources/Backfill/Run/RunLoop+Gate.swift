import BSON
import Mongo

/// What may be written, and when.
extension RunLoop {
    /// What the gate says to a chunk.
    enum Admission {
        /// This part of it, and of that only these documents.
        case admitted(Chunk, Gate.Decision)
        /// The run has to stop before it.
        case stopped(BackfillReport.Stop)
    }

    /// Waits until no brake holds, and takes what operators asked for meanwhile.
    /// - Returns: the reason to stop when there is one.
    mutating func passBrakes() throws -> BackfillReport.Stop? {
        var recorded: [Hold] = []
        let runner = runner
        let stopped = try brakes.wait(stop: runner.stop, deadline: deadline, events: runner.events) { holds in
            let isNews = recorded.map(\.brake) != holds.map(\.brake) || holding.isHalfOver
            if isNews { try renew(setting: StateStore.waiting(for: holds)) }
            if isNews { recorded = holds }
        }
        takeOver()
        return stopped
    }

    /// Takes over what operators asked for.
    private mutating func takeOver() {
        job = runner.job.judged(by: brakes.control)
        guard limits != brakes.limits else { return }
        limits = brakes.limits
        size.adopt(limits)
    }

    /// Takes over what operators asked for before, and frees the room of what earlier runs harmed and was repaired since.
    mutating func lookBack() throws {
        _ = brakes.holds()
        takeOver()
        guard runner.job.countsHarm else { return }
        let runner = runner
        try runner.patience.bridging { try store.indexHarm() }
        try freeRepaired()
    }

    /// Frees the room of what was harmed and is repaired, and keeps the lease meanwhile.
    private mutating func freeRepaired() throws {
        let (runner, gate) = (runner, gate)
        for batch in try runner.patience.bridging({ try gate.pending(store) }) {
            guard !runner.stop.isRaised else { return }
            try runner.patience.bridging { try gate.noteRepaired(among: batch, store) }
            if holding.isHalfOver { try renew() }
        }
        try runner.patience.bridging { try gate.takeBackRepaired(store) }
    }

    /// The gate as it is now: the active schema and the limits may change while the job runs.
    var gate: Gate {
        Gate(job: job, collection: collection, ledger: ledger, limits: limits, stop: runner.stop)
    }

    /// Judges a chunk, and records the harm of what there is room for before it is written.
    ///
    /// The sum is read once, after the record: only then does it show what other jobs recorded at the same time. How much
    /// of the chunk is tried follows the sum of the chunk before.
    mutating func admit(_ bounds: Chunk, of phase: Phase) throws -> Admission {
        let (gate, runner) = (gate, runner)
        var hasFreed = false
        for _ in 0..<Self.maximumTries {
            let room = try room(gate)
            let decided = try runner.patience.bridging {
                try gate.decide(bounds, of: phase, room: room.documents, store)
            }
            guard let decision = decided else { return .stopped(.signal) }
            guard let allowed = decision.chunk else {
                guard !hasFreed else { return .stopped(.threshold(room)) }
                try freeRepaired()
                (hasFreed, headroom) = (true, nil)
                continue
            }
            if try reserve(decision, gate) { return .admitted(allowed, decision) }
            // Another job, or the ledger, took the room meanwhile.
            headroom = nil
        }
        return .stopped(.threshold(try room(gate)))
    }

    /// What the sum was at the chunk before, as long as that leaves room for a whole chunk; else what it is now.
    private mutating func room(_ gate: Gate) throws -> Headroom {
        if let headroom, headroom.documents >= size.documents { return headroom }
        let now = try runner.patience.bridging { try gate.exactHeadroom(store) }
        headroom = now
        return now
    }

    /// Records a chunk's harm before it is written, and looks at the sum then.
    /// - Returns: whether there is room; else the record is taken back.
    private mutating func reserve(_ decision: Gate.Decision, _ gate: Gate) throws -> Bool {
        guard !decision.judged.counted.isEmpty else { return true }
        let namespace = job.job.namespace
        try runner.patience.bridging {
            try store.record(harm: decision.judged.counted, stale: decision.stale, of: namespace)
        }
        FaultPoint.afterHarm.reached()
        let now = try runner.patience.bridging { try gate.headroom(store) }
        headroom = now
        guard now.isExceeded else { return true }
        try runner.patience.bridging { try store.takeBack(harm: decision.newlyCounted, of: namespace) }
        return false
    }

    /// Frees the room of the documents at risk that were not harmed after all.
    mutating func settle(_ phase: Phase) throws {
        guard !unsettled.isEmpty else { return }
        let (runner, gate, written) = (runner, gate, unsettled)
        let unharmed = try runner.patience.bridging { try gate.unharmed(among: written, by: phase) }
        try runner.patience.bridging { try store.takeBack(harm: unharmed, of: job.job.namespace) }
        unsettled = []
    }

    /// How often a chunk is judged anew when others take the room that it was cut to.
    private static let maximumTries = 4
}
