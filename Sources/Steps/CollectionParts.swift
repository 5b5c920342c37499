package import BSON
import Concurrency
import Jobs
package import Mongo
package import Scanning
import Synchronization

/// The division of a collection into parts, so that several connections can read it at the same time.
///
/// Each connection reads one part after another until none is left.
package struct CollectionParts {
    /// The filters of the parts; a document matches exactly one of them.
    package let filters: [BSONDocument]
    private let concurrency: Int

    /// Divides a collection into parts for `concurrency` connections.
    ///
    /// If `concurrency` is 1, the whole collection is one part.
    ///
    /// The whole collection is also one part if the server cannot find the bounds of parts.
    /// - Throws: ``MongoError`` if a failure is temporary, such as a lost connection.
    package init(of collection: MongoCollection, for concurrency: Int) throws(MongoError) {
        self.concurrency = concurrency
        guard concurrency > 1 else {
            filters = [[:]]
            return
        }
        do throws(MongoError) {
            filters = IDRange.filters(try IDRange.splitting(collection, into: concurrency * 4))
        } catch {
            // The bounds of the parts come from a random sample of the collection. A server may fail to draw the
            // sample, for example because its document count is wrong after a crash, although it can still read the
            // whole collection. The collection is then one part.
            guard !error.isTransient else { throw error }
            filters = [[:]]
        }
    }

    /// Calls `count` for each part on several threads, and combines the results of all parts into one with `combining`.
    /// - Parameters:
    ///   - start: the initial value on each thread, to which the thread adds the results of its parts.
    ///   - collection: the collection on the calling thread's connection; each other thread uses its own connection.
    package func reduce<R: Sendable>(
        _ start: R, on pool: ClientPool, and collection: MongoCollection,
        _ count: @Sendable @escaping (BSONDocument, MongoCollection) throws -> R,
        combining: @Sendable @escaping (R, R) -> R
    ) throws -> R {
        let queue = Mutex(filters)
        @Sendable func countParts(of collection: MongoCollection) throws -> R {
            var sum = start
            while let part = queue.withLock({ $0.popLast() }) {
                do { sum = combining(sum, try count(part, collection)) } catch {
                    // If one thread fails, the other threads get no further parts.
                    queue.withLock { $0 = [] }
                    throw error
                }
            }
            return sum
        }
        let namespace = collection.namespace
        let others = (1..<max(1, min(concurrency, filters.count))).map { _ in
            BackgroundTask(on: pool) { try countParts(of: $0.collection(namespace)) }
        }
        let own = Result { try countParts(of: collection) }
        return try others.map { $0.end() }.reduce(own.get()) { combining($0, try $1.get()) }
    }
}

extension IDRange {
    /// Returns a filter for each of the ranges of `_id`s into which a collection was divided.
    ///
    /// A document matches exactly one of the filters.
    ///
    /// If all bounds have one ``ComparedType``, the filters use `$gte` and `$lt` without `$expr`. The server then finds
    /// the documents by the index, and need not evaluate an expression for each of them. Such filters match only values
    /// of the bounds' type, so the first filter also matches every `_id` of another type.
    package static func filters(_ ranges: [IDRange]) -> [BSONDocument] {
        guard ranges.count > 1 else { return ranges.map { _ in [:] } }
        let types = Set(ranges.compactMap(\.lower).map(\.comparedType))
        guard types.count == 1, types.first != .some(nil) else { return ranges.map(\.membership.filter) }
        return ranges.map { range in
            let lower = range.lower.map { [("$gte", $0)] } ?? []
            let upper = range.upper.map { [("$lt", $0)] } ?? []
            guard lower.isEmpty, let end = range.upper else { return ["_id": .object(BSONDocument(lower + upper))] }
            return ["_id": ["$not": ["$gte": end]]]
        }
    }

    /// The bounds of the range as a document with the fields `lower` and `upper`; a bound that is `nil` has no field.
    package var document: BSONDocument {
        BSONDocument([("lower", lower), ("upper", upper)].compactMap { name, bound in bound.map { (name, $0) } })
    }

    /// The condition that a document's `_id` is in the range.
    ///
    /// The condition is an aggregation expression, because expressions compare values of different types.
    var membership: Expression {
        let id = Expression(.string("$_id"))
        let bounds = [lower.map { ("$gte", $0) }, upper.map { ("$lt", $0) }].compactMap(\.self)
        return .all(bounds.map { .call($0.0, id, .constant($0.1)) })
    }
}

extension BSONValue {
    /// The groups of types that `$gte` and `$lt` compare in a filter without `$expr`; values of different groups never
    /// match.
    fileprivate enum ComparedType { case objectID, text, number, date }

    /// The group of the value's type; `nil` for any other type, for NaN, and for the infinities.
    fileprivate var comparedType: ComparedType? {
        switch self {
        case .objectID: .objectID
        case .string: .text
        case .int, .long: .number
        case .double(let number): number.isFinite ? .number : nil
        case .date: .date
        default: nil
        }
    }
}
