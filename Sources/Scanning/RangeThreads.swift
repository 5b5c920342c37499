package import BSON
import Concurrency
package import Mongo
import Synchronization

/// Reads a live collection on several threads, each of which takes one part of the collection after another.
package struct RangeThreads: Sendable {
    let pool: ClientPool
    let namespace: Namespace
    let options: ScanOptions

    /// Prepares to read a collection on several threads; a view or a sample is read by only one thread.
    package init(_ namespace: Namespace, on pool: ClientPool, options: ScanOptions) {
        self.namespace = namespace
        self.pool = pool
        self.options = options
    }

    /// Reads every document that the options select, and adds it to the result of the thread that reads it.
    ///
    /// Changes during the scan are not followed. A document is added as it was when its range was read. A document may
    /// be added twice if other clients remove it and insert it again during the scan.
    /// - Parameters:
    ///   - makePart: Makes the empty result of a thread.
    ///   - add: Adds a document to the result of a thread.
    /// - Returns: The results of the threads, in no particular order.
    /// - Throws: ``MongoError``, ``BSONError`` for a damaged document, ``ScanStopped``, or an error of `add`.
    package func read<Part: Sendable>(
        _ makePart: @escaping @Sendable () -> Part,
        _ add: @escaping @Sendable (inout Part, borrowing BSONView) throws -> Void
    ) async throws -> [Part] {
        try await run { queue in
            do {
                let client = try pool.client()
                let collection = client.collection(namespace)
                let session = try ScanSession(queue, client)
                var part = makePart()
                var pacer = ScanPacer(options, queue)
                defer { pacer.finish() }
                while let range = queue.next() {
                    try lend(range, of: collection, session) { document in
                        try add(&part, document)
                        return pacer.mayContinue() && !queue.isClosed
                    }
                    if options.isStopped() { throw ScanStopped() }
                }
                return part
            } catch {
                // After an error of one thread, the other threads need not read any more parts, because the scan fails
                // or starts over.
                queue.close()
                throw error
            }
        }
    }

    /// Runs `work` on every thread with the same queue of parts, and returns the results of the threads.
    ///
    /// If possible, one replica set member reads the collection in the order in which it stores the documents. If that
    /// member is lost, the reading starts over in the order of `_id`, in which any member can resume.
    func run<Part: Sendable>(_ work: @escaping @Sendable (RangeQueue) throws -> Part) async throws -> [Part] {
        let queue = try await queue(byID: false)
        do {
            return try await run(queue, work)
        } catch let lost as MemberLost {
            if options.isStopped() { throw ScanStopped() }
            options.listeners.progress(-queue.read.load(ordering: .relaxed))
            options.listeners.onRestart?(lost.reason)
            return try await run(try await self.queue(byID: true), work)
        }
    }

    /// Divides the collection into parts and returns the queue of these parts.
    /// - Parameter byID: Whether the parts must be ranges of `_id`s, because a member was lost. If so, the requests for
    ///   the ranges are retried until a member answers, or until the time for retries is over. If not, the first
    ///   transient error ends the scan.
    private func queue(byID: Bool) async throws -> RangeQueue {
        try await pool.withClient { [namespace, options] client throws(MongoError) in
            let part = options.part?.range ?? .everything
            if part.isEmpty { return RangeQueue([]) }
            if options.isView || options.sampleSize != nil { return RangeQueue([.everything]) }
            // A small collection is read in one part, in the order of `_id`, in which any member can resume.
            if options.isSmall { return RangeQueue([part]) }
            let count = options.readers * 4
            // A single thread reads all records as one part. It needs the record plan nevertheless: if its cursor is
            // lost, it can resume only after one of the records that the plan lists.
            let parts = options.threads > 1 ? count : 1
            if !byID, options.readFilter.isEmpty, options.part == nil,
                let plan = try RecordPlan.make(for: namespace, on: client, parts: parts)
            {
                return RangeQueue(plan)
            }
            var retries = Retries(limit: byID ? options.retryLimit : .zero)
            while true {
                do throws(MongoError) {
                    return RangeQueue(
                        try IDRange.splitting(
                            client.collection(namespace), into: options.part == nil ? count : parts, within: part,
                            share: options.part?.count ?? 1))
                } catch {
                    // The bounds of the ranges come from a random sample, which a server may fail to draw although it
                    // can read the whole collection.
                    guard error.isTransient else { return RangeQueue([part]) }
                    try retries.wait(after: error, isProgress: false, isStopped: options.isStopped)
                }
            }
        }
    }

    private func run<Part: Sendable>(
        _ queue: RangeQueue, _ work: @escaping @Sendable (RangeQueue) throws -> Part
    ) async throws -> [Part] {
        try await withThrowingTaskGroup(of: Part.self) { group in
            for number in 0..<min(options.readers, queue.count) {
                group.addTask { try await onOwnedThread(name: "scan-\(number)") { try work(queue) } }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Calls `body` with the documents of a part or, if the options set a sample size, with a sample of the collection.
    func lend(
        _ part: RangeQueue.Part, of collection: MongoCollection, _ session: borrowing ScanSession,
        _ body: (borrowing BSONView) throws -> Bool
    ) throws {
        if let size = options.sampleSize {
            return try SampleReader(collection: collection, filter: options.filter, size: size).read(body)
        }
        let (queue, isStopped) = (session.queue, options.isStopped)
        switch part {
        case .ids(let range):
            var reader = RangeReader(
                collection, range: range, isView: options.isView, retryLimit: options.retryLimit)
            reader.filter = options.readFilter
            reader.session = session.options
            reader.batchSize = options.batchSize
            reader.isStopped = { isStopped() || queue.isClosed }
            try reader.read(body)
        case .records(let range, let plan):
            guard let reads = session.reads else { preconditionFailure("a plan comes with its member's reads") }
            var reader = RecordReader(collection: collection, plan: plan, range: range, reads: reads)
            reader.batchSize = options.batchSize
            reader.retryLimit = options.retryLimit
            reader.isStopped = { isStopped() || queue.isClosed }
            try reader.read(body)
        }
    }
}

/// A queue of the parts of a collection that no thread has taken yet.
final class RangeQueue: Sendable {
    /// A part of a collection: a range of `_id`s, or a range of the record numbers of one replica set member.
    enum Part: Sendable {
        case ids(IDRange)
        case records(RecordRange, RecordPlan)
    }

    /// The number of parts into which the collection is divided.
    let count: Int
    /// The member that reads all parts; `nil` if any member may read them.
    let member: Member?
    /// The number of documents that the threads have reported as read.
    let read = Atomic<Int>(0)
    private let parts: Mutex<[Part]>
    private let closed = Atomic<Bool>(false)

    init(_ ranges: [IDRange]) {
        (count, member) = (ranges.count, nil)
        parts = Mutex(ranges.reversed().map { .ids($0) })
    }

    init(_ plan: RecordPlan) {
        (count, member) = (plan.ranges.count, plan.member)
        parts = Mutex(plan.ranges.reversed().map { .records($0, plan) })
    }

    var isClosed: Bool { closed.load(ordering: .relaxed) }

    func next() -> Part? { isClosed ? nil : parts.withLock { $0.popLast() } }

    func close() { closed.store(true, ordering: .relaxed) }
}
