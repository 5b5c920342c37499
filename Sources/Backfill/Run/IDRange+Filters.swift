import BSON
import Jobs
import Scanning

extension IDRange {
    /// A filter for each of the ranges that a collection was split into; a document fits exactly one of them.
    ///
    /// Where all bounds are of one type, in the match language, whose index bounds need no second look at the document: it
    /// compares values of one type alone, so the first filter takes whatever the others leave.
    static func filters(_ ranges: [IDRange]) -> [BSONDocument] {
        guard ranges.count > 1 else { return ranges.map { _ in [:] } }
        let types = Set(ranges.compactMap(\.lower).map(\.comparedType))
        guard types.count == 1, types.first != .some(nil) else { return ranges.map(\.expression.filter) }
        return ranges.map { range in
            let lower = range.lower.map { [("$gte", $0)] } ?? []
            let upper = range.upper.map { [("$lt", $0)] } ?? []
            guard lower.isEmpty, let end = range.upper else { return ["_id": .object(BSONDocument(lower + upper))] }
            return ["_id": ["$not": ["$gte": end]]]
        }
    }

    /// Whether a document's `_id` is in the range, whatever the types.
    private var expression: Expression {
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
