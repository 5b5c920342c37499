import BSON
package import Checking
package import Mongo
import Synchronization

/// Checks every document of a live collection.
package struct CollectionScan: Sendable {
    let pool: ClientPool
    let schema: CompiledSchema
    let options: ScanOptions

    /// Prepares a scan.
    package init(_ schema: CompiledSchema, on pool: ClientPool, options: ScanOptions) {
        self.pool = pool
        self.schema = schema
        self.options = options
    }

    /// Reads all ranges on threads of their own.
    /// - Throws: ``MongoError``, or ``ScanStopped``.
    package func run() async throws -> Tally {
        let ranges = try await pool.withClient { [schema, options] client throws(MongoError) in
            options.isView
                ? [.everything]
                : try IDRange.splitting(client.collection(schema.namespace), into: options.threads * 4)
        }
        let queue = RangeQueue(ranges)
        return try await withThrowingTaskGroup(of: Tally.self) { group in
            for number in 0..<min(options.threads, ranges.count) {
                group.addTask { try await onOwnedThread(name: "scan-\(number)") { try work(queue) } }
            }
            var total = options.makeTally(schema)
            for try await part in group { total.merge(part) }
            return total
        }
    }

    /// Takes ranges until none is left; one thread's part of the scan.
    private func work(_ queue: RangeQueue) throws -> Tally {
        let client = try pool.client()
        let collection = client.collection(schema.namespace)
        var tally = options.makeTally(schema)
        var unreported = 0
        do {
            while let range = queue.next() {
                try RangeReader(collection, range: range, isView: options.isView).read { document in
                    try tally.add(document, ledger: options.ledger)
                    unreported += 1
                    guard unreported == 1_000 else { return true }
                    options.progress(unreported)
                    unreported = 0
                    return !options.isStopped() && !queue.isClosed
                }
                if options.isStopped() { throw ScanStopped() }
            }
        } catch {
            // What one thread cannot read the others need not go on for.
            queue.close()
            throw error
        }
        options.progress(unreported)
        return tally
    }
}

/// The ranges that nobody reads yet.
private final class RangeQueue: Sendable {
    private let ranges: Mutex<[IDRange]>
    private let closed = Atomic<Bool>(false)

    init(_ ranges: [IDRange]) { self.ranges = Mutex(ranges.reversed()) }

    var isClosed: Bool { closed.load(ordering: .relaxed) }

    func next() -> IDRange? { isClosed ? nil : ranges.withLock { $0.popLast() } }

    func close() { closed.store(true, ordering: .relaxed) }
}
