package import BSON
import Concurrency
import Jobs
package import Mongo
package import Scanning
import Synchronization

/// Parts of a collection, for connections side by side that each take one after the other.
package struct CollectionParts {
    /// A document fits exactly one of them.
    package let filters: [BSONDocument]
    private let concurrency: Int

    /// Cuts a collection for so many connections, or leaves it whole for one.
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
            // A server that cannot draw a sample, as after a crash with a wrong count, can still be asked for all.
            guard !error.isTransient else { throw error }
            filters = [[:]]
        }
    }

    /// What `count` gives of all parts together.
    /// - Parameter collection: for the thread that calls; the others have clients of their own.
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
                    // What one thread cannot count the others need not go on for.
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
    /// A filter for each of the ranges that a collection was split into; a document fits exactly one of them.
    ///
    /// Where all bounds are of one type, in the match language, whose index bounds need no second look at the document: it
    /// compares values of one type alone, so the first filter takes whatever the others leave.
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

    /// The bounds that there are.
    package var document: BSONDocument {
        BSONDocument([("lower", lower), ("upper", upper)].compactMap { name, bound in bound.map { (name, $0) } })
    }

    /// Whether a document's `_id` is in the range, whatever the types.
    var membership: Expression {
        let id = Expression(.string("$_id"))
        let bounds = [lower.map { ("$gte", $0) }, upper.map { ("$lt", $0) }].compactMap(\.self)
        return .all(bounds.map { .call($0.0, id, .constant($0.1)) })
    }
}

extension BSONValue {
    /// Types that the match language compares with each other and with no other.
    fileprivate enum ComparedType { case objectID, text, number, date }

    /// `nil` for types, and for values such as NaN, of which that is less simple.
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
