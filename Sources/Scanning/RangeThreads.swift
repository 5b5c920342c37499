package import BSON
package import Mongo
import Synchronization

/// Reads a live collection on threads of their own, a range of `_id`s at a time.
package struct RangeThreads: Sendable {
    let pool: ClientPool
    let namespace: Namespace
    let options: ScanOptions

    /// Prepares to read; a view and a sample are read by one thread.
    package init(_ namespace: Namespace, on pool: ClientPool, options: ScanOptions) {
        self.namespace = namespace
        self.pool = pool
        self.options = options
    }

    /// Lends every document to the part of the thread that reads it.
    ///
    /// What changes meanwhile is not followed: a document is lent as it was when its range was read.
    /// - Parameters:
    ///   - makePart: what a thread begins with.
    ///   - add: adds a document to a part.
    /// - Returns: A part per thread, in no order.
    /// - Throws: ``MongoError``, ``ScanStopped``, or what `add` throws.
    package func read<Part: Sendable>(
        _ makePart: @escaping @Sendable () -> Part,
        _ add: @escaping @Sendable (inout Part, borrowing BSONView) throws -> Void
    ) async throws -> [Part] {
        try await run { queue in
            do {
                let client = try pool.client()
                let collection = client.collection(namespace)
                var part = makePart()
                var pace = Pace(options)
                defer { pace.finish() }
                while let range = queue.next() {
                    try lend(range, of: collection, [:]) { document in
                        try add(&part, document)
                        return pace.goesOn() && !queue.isClosed
                    }
                    if options.isStopped() { throw ScanStopped() }
                }
                return part
            } catch {
                // What one thread cannot read the others need not go on for.
                queue.close()
                throw error
            }
        }
    }

    /// Gives every thread the same queue of ranges, and collects what each of them made.
    func run<Part: Sendable>(_ work: @escaping @Sendable (RangeQueue) throws -> Part) async throws -> [Part] {
        let ranges = try await pool.withClient { [namespace, options] client throws(MongoError) in
            options.isView || options.sampleSize != nil
                ? [.everything]
                : try IDRange.splitting(client.collection(namespace), into: options.threads * 4)
        }
        let queue = RangeQueue(ranges)
        return try await withThrowingTaskGroup(of: Part.self) { group in
            for number in 0..<min(options.threads, ranges.count) {
                group.addTask { try await onOwnedThread(name: "scan-\(number)") { try work(queue) } }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// Lends the documents of a range, or a sample of the collection.
    func lend(
        _ range: IDRange, of collection: MongoCollection, _ session: BSONDocument,
        _ body: (borrowing BSONView) throws -> Bool
    ) throws {
        if let size = options.sampleSize {
            return try SampleReader(collection: collection, filter: options.filter, size: size).read(body)
        }
        var reader = RangeReader(collection, range: range, isView: options.isView)
        reader.filter = options.readFilter
        reader.session = session
        reader.batchSize = options.batchSize
        reader.isStopped = options.isStopped
        try reader.read(body)
    }
}

/// The ranges that nobody reads yet.
final class RangeQueue: Sendable {
    private let ranges: Mutex<[IDRange]>
    private let closed = Atomic<Bool>(false)

    init(_ ranges: [IDRange]) { self.ranges = Mutex(ranges.reversed()) }

    var isClosed: Bool { closed.load(ordering: .relaxed) }

    func next() -> IDRange? { isClosed ? nil : ranges.withLock { $0.popLast() } }

    func close() { closed.store(true, ordering: .relaxed) }
}
