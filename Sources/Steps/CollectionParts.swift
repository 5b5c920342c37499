package import BSON
import Concurrency
import Jobs
package import Mongo
package import Scanning
import Synchronization

/// The parts of a collection, for parallel connections that each process one part after the other.
package struct CollectionParts {
    /// The filters of the parts; a document matches exactly one of them.
    package let filters: [BSONDocument]
    private let concurrency: Int

    /// Cuts a collection into parts for `concurrency` connections; for one connection it stays whole.
    /// - Throws: ``MongoError`` where the deployment cannot be reached.
    package init(of collection: MongoCollection, for concurrency: Int) throws(MongoError) {
        self.concurrency = concurrency
        guard concurrency > 1 else {
            filters = [[:]]
            return
        }
        do throws(MongoError) {
            filters = IDRange.filters(try IDRange.splitting(collection, into: concurrency * 4))
        } catch {
            // A server that cannot draw a sample, for instance with a wrong count after a crash, can still read
            // everything.
            guard !error.isTransient else { throw error }
            filters = [[:]]
        }
    }

    /// Returns the combined results of `count` for all parts.
    /// - Parameter collection: used by the calling thread; the other threads have clients of their own.
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
                    // If one thread fails, the others need not continue.
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
    /// Returns a filter for each of the ranges that a collection was split into; a document matches exactly one of
    /// them.
    ///
    /// If all bounds have one type, the filters use the match language, whose index bounds need no further check of the
    /// document. It compares only values of one type, so the first filter takes everything that the others do not
    /// match.
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

    /// The bounds that are set, as a document.
    package var document: BSONDocument {
        BSONDocument([("lower", lower), ("upper", upper)].compactMap { name, bound in bound.map { (name, $0) } })
    }

    /// The condition that a document's `_id` is in the range, whatever its type.
    var membership: Expression {
        let id = Expression(.string("$_id"))
        let bounds = [lower.map { ("$gte", $0) }, upper.map { ("$lt", $0) }].compactMap(\.self)
        return .all(bounds.map { .call($0.0, id, .constant($0.1)) })
    }
}

extension BSONValue {
    /// The groups of types that the match language compares with each other and with no other type.
    fileprivate enum ComparedType { case objectID, text, number, date }

    /// The group of the value's type; `nil` for types, and values such as NaN, with less simple rules.
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
