import BSON
import Checking
import Concurrency
import Mongo
import Scanning
import ServerSchema
import Synchronization

/// Counts the documents of a collection that do not sync under a schema.
struct FailingCount: Sendable {
    let schema: CompiledSchema
    let namespace: Namespace
    let stop: StopSignal

    /// Counts side by side on so many connections, each a part of the collection at a time.
    func run(in concurrency: Int, on pool: ClientPool, _ client: borrowing Client) throws -> Int {
        var filters: [BSONDocument] = [[:]]
        if concurrency > 1 {
            do throws(MongoError) {
                let ranges = try IDRange.splitting(client.collection(namespace), into: concurrency * 4)
                filters = IDRange.filters(ranges)
            } catch {
                // A server that cannot draw a sample can still be asked for all.
                guard !error.isTransient else { throw error }
            }
        }
        let queue = Mutex(filters)
        @Sendable func count(_ collection: MongoCollection) throws -> Int {
            var failing = 0
            while let part = queue.withLock({ $0.popLast() }) {
                do { failing += try self.count(part, of: collection) } catch {
                    queue.withLock { $0 = [] }
                    throw error
                }
            }
            return failing
        }
        let others = (1..<max(1, min(concurrency, filters.count))).map { _ in
            BackgroundTask(on: pool) { try count($0.collection(namespace)) }
        }
        let own = Result { try count(client.collection(namespace)) }
        return try others.map { $0.end() }.reduce(own.get()) { try $0 + $1.get() }
    }

    private func count(_ part: BSONDocument, of collection: MongoCollection) throws -> Int {
        var failing = 0
        var cursor = collection.find(
            part, options: ["comment": "shipshape next", "readConcern": ["level": "majority"]])
        while !stop.isRaised, let view = try cursor.next() {
            if try schema.check(view) == .certain { failing += 1 }
        }
        return failing
    }
}
