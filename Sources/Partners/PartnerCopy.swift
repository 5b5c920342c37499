package import BSON
import Checking
import Concurrency
import Following
import JobState
import Jobs
package import Mongo
import Running
import Scanning

package struct PartnerReport: Sendable {
    package var target: Namespace
    /// The number of documents that this run copied.
    package var copied = 0
    /// The number of documents that earlier runs copied.
    package var copiedBefore = 0
    /// The documents of the original collection that this run did not copy, because they cannot exist in the partner.
    package var refusals = RefusalList()
    /// The reason why the run stopped early; `nil` when all documents are copied.
    package var stopped: String?
    package var notes: [String] = []
    /// The duration of the run, in seconds.
    package var seconds = 0.0
}

extension PartnerRunner {
    /// Creates the partner collection and copies all documents of the original, or continues after an earlier run.
    /// - Throws: ``RunError``, for instance when another runner holds the partner's lease; ``MongoError``. The copied
    ///   documents stay, and the next run continues after them.
    package func run(_ plan: PartnerPlan, on pool: ClientPool) throws -> PartnerReport {
        let started = ContinuousClock.now
        let kernel = try kernel(limits: job.limits, on: pool)
        var copy = PartnerCopy(self, kernel: kernel, ledger: try ledger(on: pool))
        do {
            var report = try copy.run(plan)
            report.notes += copy.kernel.leave().map { [$0] } ?? []
            report.seconds = started.duration(to: .now).seconds
            return report
        } catch {
            if !error.leavesDoubt { _ = copy.kernel.leave() }
            throw error
        }
    }
}

/// Copies the documents of the original collection in the order of their `_id`s, one chunk after another.
struct PartnerCopy: ~Copyable {
    private let runner: PartnerRunner
    private let ledger: UnsyncLedger
    var kernel: Kernel
    private var report: PartnerReport

    init(_ runner: PartnerRunner, kernel: consuming Kernel, ledger: UnsyncLedger) {
        (self.runner, self.ledger) = (runner, ledger)
        self.kernel = kernel
        report = PartnerReport(target: runner.job.target)
    }

    private var job: PartnerJob { runner.job }

    mutating func run(_ plan: PartnerPlan) throws -> PartnerReport {
        var state = PartnerState(try kernel.retrying { try kernel.store.ranges.document() })
        try state.check(job)
        if state.phase == nil {
            try begin()
            state = PartnerState(try kernel.retrying { try kernel.store.ranges.document() })
        }
        report.copiedBefore = state.copied
        guard state.phase == .copying else { return report }
        try create(plan)
        try copy(after: state.last)
        if report.stopped == nil {
            let end = ClusterTime(rawValue: try kernel.retrying { try kernel.client.operationTime() })
            try kernel.renew(setting: PartnerChange.allCopied(at: end))
        }
        return report
    }

    /// Records the current positions of the original's and the partner's change streams, before any document is copied.
    ///
    /// The mirror will apply to the partner all changes that are made to the original after the original's position.
    /// The partner's position is replaced after the copy.
    private mutating func begin() throws {
        let now = try kernel.retrying { try kernel.client.operationTime() }
        var places: [PartnerSide: FeedPlace] = [:]
        if now > 0 { for side in PartnerSide.allCases { places[side] = .at(ClusterTime(rawValue: now)) } }
        try kernel.renew(setting: PartnerChange.beginning(job, places: places))
    }

    /// Creates the partner collection and its indexes, unless an earlier run has created them before it was killed.
    private func create(_ plan: PartnerPlan) throws {
        for command in plan.creation {
            try kernel.retrying {
                do throws(MongoError) {
                    try kernel.client.runWriteCommand(
                        command.appending("writeConcern", ["w": "majority"]), on: job.target.database)
                } catch {
                    guard error.code == .namespaceExists else { throw error }
                }
            }
        }
    }

    private mutating func copy(after last: BSONValue?) throws {
        var last = last
        while true {
            do {
                return try pass(&last)
            } catch let error as MongoError where error.isCursorLost && !kernel.stop.isRaised {
                // The server has lost the cursor. The next pass opens a new cursor, and continues after the last chunk
                // that was copied.
                kernel.events(.retrying(reason: "\(error)", attempt: 1))
                try kernel.sleep(.milliseconds(500))
            }
        }
    }

    private mutating func pass(_ last: inout BSONValue?) throws {
        // The cursor has its own client, because other commands are sent while it is open.
        let reader = try kernel.pool.client()
        var options: BSONDocument = [
            "hint": ["_id": 1], "readConcern": ["level": "majority"], "comment": "shipshape partner init",
            "batchSize": 1_000,
        ]
        if let last { options = options.appending("min", ["_id": last]) }
        var chunks = DocumentChunks(reader.collection(job.source).find([:], options: options))
        while let chunk = try chunks.next() {
            // The cursor's lower bound includes the last copied document, so that document is left out here.
            let documents = chunk.filter { document in
                last.map { last in document["_id"].map { !$0.hasSameBytes(as: last) } ?? true } ?? true
            }
            guard let newest = documents.last?["_id"] else { continue }
            if let stop = try kernel.waitForThrottle() {
                report.stopped = stop.reason
                return
            }
            let made = try prove(documents)
            guard try hasRoom(for: made) else { return }
            try insert(made)
            last = newest
            report.copied += made.count
            try kernel.renew(setting: PartnerChange.copied(report.copiedBefore + report.copied, to: newest))
            FaultInjection.reached(.afterCheckpoint)
            kernel.events(.chunk(documents: documents.count, modified: made.count))
        }
    }

    private mutating func prove(_ documents: [BSONDocument]) throws -> [BSONDocument] {
        let outcomes = try kernel.retrying {
            try Translation(
                partner: runner.partner, side: .source, collection: kernel.client.collection(job.source)
            ).provenOutcomes(of: documents)
        }
        var made: [BSONDocument] = []
        for outcome in outcomes {
            switch outcome {
            case .document(let document): made.append(document)
            case .refused(let refusal): report.refusals.add(refusal)
            }
        }
        return made
    }

    /// Reserves room under the limit of unsynced documents for those documents of a chunk that would not sync.
    /// - Returns: whether the limit leaves enough room for these documents.
    private mutating func hasRoom(for documents: [BSONDocument]) throws -> Bool {
        guard let schema = runner.partner.schemas[.target], !schema.isOfValidator else { return true }
        let failing = try documents.filter { try schema.check($0.view) == .certain }.compactMap { $0["_id"] }
        guard !failing.isEmpty else { return true }
        let limit = SharedLimit(ledger: ledger, limits: job.limits)
        let shortage = try kernel.retrying {
            try limit.reserve(
                failing, of: job.target, accepting: runner.options.allowUnsync ?? 0, kernel.store)
        }
        if let shortage { report.stopped = "the limit of unsynced documents: \(shortage)" }
        return shortage == nil
    }

    private mutating func insert(_ documents: [BSONDocument]) throws {
        let refused = try CopyWriter(namespace: job.target).insert(documents, under: &kernel)
        try kernel.retrying { try kernel.store.reservations.remove(refused.map(\.id), of: job.target) }
        for (id, code) in refused {
            let twin = runner.partner.twin(of: id, on: .target) ?? id
            report.refusals.add(Refusal(id: twin, reason: .server(code)))
        }
        report.copied -= refused.count
    }
}
