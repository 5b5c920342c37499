import BSON
import ServerSchema

/// A condition on a field, written with the operators of MongoDB's queries, such as `$type` and `$nin`.
///
/// A query operator also matches an array if it matches one of the elements. The filters of this type exclude such
/// arrays, so they match the same documents as an aggregation expression with the condition.
struct FieldQuery {
    typealias Operators = [(name: String, operand: BSONValue)]

    /// The type of the field's value; `nil` if the field is missing.
    private let type: BSONType?
    /// The operators that match the value.
    private let matching: Operators
    /// The operators of which at least one does not match the value; empty if there is no such condition.
    private let failing: Operators

    /// Creates a condition on the values of one type.
    init(_ type: BSONType, _ matching: Operators = [], failing: Operators = []) {
        (self.type, self.matching, self.failing) = (type, matching, failing)
    }

    private init() { (type, matching, failing) = (nil, [], []) }

    /// The condition that the field's parent is an object without the field.
    static let missing = FieldQuery()

    /// Returns the filter for the documents with a value at the path that meets the condition.
    ///
    /// A filter for a missing field finds only documents with an object in which the field is missing.
    /// - Returns: `nil` if a query cannot follow the path as the checker does. The path must lead through objects
    ///   alone, and the server must not read a name as an operator or as several names.
    func filter(at path: SchemaPath) -> BSONDocument? {
        let names = path.steps.compactMap { step in
            if case .field(let name) = step, ProofBuilder.isPlain(name) { name } else { nil }
        }
        guard names.count == path.steps.count, let last = names.indices.last else { return nil }
        let places = names.indices.map { names[...$0].joined(separator: ".") }
        var filter: Operators = places.dropLast().enumerated().map { depth, place in
            let isLacking = type == nil && depth == last - 1
            return (place, .object((isLacking ? Self.ofType("object") : []) + Self.noArray(at: place)))
        }
        let place = places[last]
        let noArray = type == nil || type == .array ? [] : Self.noArray(at: place)
        let excluded = failing.isEmpty ? noArray : noArray.isEmpty ? [("$not", .object(failing))] : []
        let own = type.map { Self.ofType("\($0)") } ?? [("$exists", false)]
        filter.append((place, .object(own + matching + excluded)))
        filter.removeAll { $0.operand == [:] }
        if !failing.isEmpty, !noArray.isEmpty {
            let either = [Self.ofType("array"), failing].map { BSONValue.object([(place, .object($0))]) }
            filter.append(("$nor", .array(of: either)))
        }
        return BSONDocument(filter.map { ($0.name, $0.operand) })
    }

    private static func ofType(_ name: String) -> Operators { [("$type", .string(name))] }

    /// Returns operators that match every value except an array; none for an `_id`, which the server never stores as an
    /// array.
    private static func noArray(at place: String) -> Operators {
        place == "_id" ? [] : [("$not", .object(ofType("array")))]
    }
}

extension BSONValue {
    fileprivate static func object(_ fields: FieldQuery.Operators) -> BSONValue {
        .object(BSONDocument(fields.map { ($0.name, $0.operand) }))
    }
}

extension FieldQuery {
    /// Creates the condition that a value of a type is none of the allowed values.
    /// - Parameter comparesBytes: Whether the server compares texts by their bytes, and not by a collation.
    /// - Returns: `nil` if the server might compare a value differently from the checker.
    init?(_ type: BSONType, outside allowed: [BSONValue], comparesBytes: Bool) {
        let scalars = TypeMask.mixedScalars.union(.null)
        guard allowed.allSatisfy({ scalars.contains(TypeMask($0.type)) }), scalars.contains(TypeMask(type)) else {
            return nil
        }
        // Values of other types are never equal, and a `null` in the list would also match a missing field.
        let alike = TypeMask.numbers.contains(TypeMask(type)) ? .numbers : TypeMask(type)
        let members = type == .null ? [] : allowed.filter { alike.contains(TypeMask($0.type)) }
        guard type != .string || members.isEmpty || comparesBytes else { return nil }
        self.init(type, members.isEmpty ? [] : [("$nin", .array(of: members))])
    }

    /// Creates the condition that a number is not within a bound, such as the `$gte` of a minimum.
    init(_ type: BSONType, _ comparison: String, failing bound: BSONValue) {
        // NaN compares as false with every bound, so only for other numbers one comparison is the negation of another.
        let negated = ["$gte": "$lt", "$gt": "$lte", "$lte": "$gt", "$lt": "$gte"][comparison]
        if let negated, TypeMask.integers.contains(TypeMask(type)), bound.compared(to: .double(.nan)) != .equal {
            self.init(type, [(negated, bound)])
        } else {
            self.init(type, failing: [(comparison, bound)])
        }
    }
}

extension Found {
    /// The condition of ``number(_:for:)`` as a query; `nil` if no query operators express it.
    func query(for target: TypeMask) -> FieldQuery? {
        let int32: FieldQuery.Operators = [("$gte", .int(.min)), ("$lte", .int(.max))]
        return switch detail {
        case .notANumber: FieldQuery(type, [("$eq", .double(.nan))])
        case .infinity: FieldQuery(type, [("$in", [.double(-.infinity), .double(.infinity)])])
        case .exact where type == .int || target == .decimal: FieldQuery(type)
        case .exact where type == .long && target == .int: FieldQuery(type, int32)
        case .beyondInt32 where type == .long: FieldQuery(type, failing: int32)
        default: nil
        }
    }

    /// The condition that a value is 16 bytes of binary data with the subtype that the finding states.
    var queryOfSixteenBytes: FieldQuery {
        func bound(_ byte: UInt8) -> BSONValue {
            .binary(subtype: subtype, bytes: Array(repeating: byte, count: 16))
        }
        return FieldQuery(type, [("$gte", bound(0)), ("$lte", bound(0xFF))])
    }
}
