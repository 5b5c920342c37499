import BSON

/// An aggregation expression that is true for values that have a given finding.
struct ValueCondition {
    /// Whether the expression matches the values that have the finding and no others.
    private(set) var isExact: Bool
    private let finding: Finding
    private let node: CompiledSchema.Node
    private let targets: [ReferenceTarget]
    /// The values that the schema lists in an enum at the finding's path; empty if there is no enum.
    private let members: [String]
    private let comparesBytes: Bool

    init(_ finding: Finding, in schema: CompiledSchema) {
        self.finding = finding
        let node = schema.nodes[Int(finding.node)]
        self.node = node
        targets = finding.rule == .mixedDBRef ? schema.references.map { ReferenceTarget($0, in: schema.table) } : []
        members = node.flags.contains(.enumeration) ? node.fields.names(in: schema) : []
        comparesBytes = schema.comparesBytes
        isExact = true
        isExact = !isWider
    }

    var found: Found { finding.found }

    /// Whether the expression also matches values that do not have the finding.
    private var isWider: Bool {
        switch found.detail {
        case .otherLength, .tooDeep, .increment: true
        case .exact, .inexact, .beyondInt32, .beyondInt64, .fraction, .notANumber, .infinity:
            numericTarget == nil
        // If the schema type is `mixed`, the expression also matches a DBRef, because the keys of a DBRef begin with a
        // dollar sign.
        case .dollarKey: node.flags.contains(.mixed)
        case .none where finding.rule == .mixedCollection: TypeMask(found.type) == .object
        // The expression does not read the linked collection, so it also matches links to documents that exist and
        // sync.
        case .none where finding.rule == .linkDangling || finding.rule == .linkTargetUnsyncable: true
        case .referenceIDType: TypeMask(found.type) == .binData
        case .none where finding.rule == .additionalProperty: !node.flags.contains(.closed)
        // Whether an extra field fits the schema in `additionalProperties` can depend on more than the type of its
        // value.
        case .none where finding.rule == .extraField: node.additional >= 0
        default: false
        }
    }

    /// The numeric type that the schema names; `nil` if it names none or several.
    private var numericTarget: TypeMask? {
        if node.flags.contains(.prisma) { return node.prismaNumber }
        let targets = node.accepts.intersection(.numbers)
        return targets.rawValue.nonzeroBitCount == 1 ? targets : nil
    }

    /// Returns an expression that is true if the value of the expression `value` has the finding.
    func holds(for value: BSONValue) -> BSONValue {
        let isOfType = Expression.type(value, is: "\(found.type)")
        switch found.detail {
        case .none where finding.rule == .storedType && node.plain.contains(.objectId):
            return Expression.guarded(isOfType, canBeObjectID(value))
        case .noObjectID: return Expression.guarded(isOfType, Expression.not(canBeObjectID(value)))
        case .none, .noneFits, .severalFit, .increment: return isOfType
        case .noMember:
            return Expression.guarded(
                isOfType, Expression.and(members.map { Expression.not(Expression.isText(value, $0)) }))
        case .missing, .unusableDefault: return Expression.type(value, is: "missing")
        case .sixteenBytes: return Expression.guarded(isOfType, found.subtypeOfSixteenBytes(value))
        case .otherLength:
            return Expression.guarded(isOfType, ["$ne": [["$binarySize": value], 16]])
        case .emptyKey, .dollarKey, .dottedKey: return keys(of: value)
        case .tooDeep: return ["$in": [["$type": value], ["array", "object"]]]
        case .noCoordinates, .fewCoordinates, .coordinateType, .coordinateRange: return point(value)
        case .unsyncedReference, .referenceIDType: return reference(value)
        case .tooLarge:
            let size: BSONValue = TypeMask(found.type) == .object ? ["$bsonSize": value] : ["$binarySize": value]
            return Expression.guarded(isOfType, ["$gt": [size, .integer(Walker.maximumBytes)]])
        case .exact, .inexact, .beyondInt32, .beyondInt64, .fraction, .notANumber, .infinity:
            guard let numericTarget else { return isOfType }
            let conditions = found.number(value, for: numericTarget)
            return conditions.isEmpty ? isOfType : Expression.guarded(isOfType, Expression.and(conditions))
        // No expression ignores the order of an object's fields as the checker does, so ``FilterBuilder`` uses a
        // `$jsonSchema` for equal elements. Only the rules of engines and unique indexes cause the other findings;
        // ``EnginePlan`` and ``UniqueKey`` have their conditions.
        default: return isOfType
        }
    }

    /// The condition of ``holds(for:)`` as a query; `nil` if no query operators express it.
    var query: FieldQuery? {
        switch found.detail {
        case .none where finding.rule == .storedType && node.plain.contains(.objectId): nil
        case .none, .noneFits, .severalFit, .increment: FieldQuery(found.type)
        case .noMember: FieldQuery(found.type, outside: members.map { .string($0) }, comparesBytes: comparesBytes)
        case .missing, .unusableDefault: .missing
        case .sixteenBytes: found.queryOfSixteenBytes
        case .exact, .inexact, .beyondInt32, .beyondInt64, .fraction, .notANumber, .infinity:
            numericTarget.map { found.query(for: $0) } ?? FieldQuery(found.type)
        default: nil
        }
    }

    /// Returns an expression that is true if an ObjectId can be made of a string or of binary data.
    private func canBeObjectID(_ value: BSONValue) -> BSONValue {
        if TypeMask(found.type) == .binData { return ["$eq": [["$binarySize": value], 12]] }
        return ["$ne": [["$convert": ["input": value, "to": "objectId", "onError": nil]], nil]]
    }

    private func keys(of value: BSONValue) -> BSONValue {
        let isEmpty: BSONValue = ["$eq": ["$$key.k", ""]]
        let hasDollar: BSONValue = ["$eq": [["$indexOfBytes": ["$$key.k", ["$literal": "$"], 0, 1]], 0]]
        let hasDot: BSONValue = ["$gte": [["$indexOfBytes": ["$$key.k", "."]], 0]]
        let holds: BSONValue =
            switch found.detail {
            case .emptyKey: isEmpty
            case .dollarKey: hasDollar
            default: Expression.and([hasDot, Expression.not(hasDollar)])
            }
        return Expression.guarded(
            Expression.type(value, is: "object"),
            Expression.any(of: ["$objectToArray": value], as: "key", holds))
    }
}

// MARK: numbers and GeoJSON points

extension Found {
    /// Returns an expression that is true if a value is 16 bytes of binary data with the subtype that the finding
    /// states.
    ///
    /// MongoDB sorts binary data of equal length by subtype, so two bounds select the subtype.
    func subtypeOfSixteenBytes(_ value: BSONValue) -> BSONValue {
        func bound(_ byte: UInt8) -> BSONValue {
            .binary(subtype: subtype, bytes: Array(repeating: byte, count: 16))
        }
        return Expression.and([
            ["$eq": [["$binarySize": value], 16]], ["$gte": [value, bound(0)]], ["$lte": [value, bound(0xFF)]],
        ])
    }

    /// Returns expressions that are true if a number fits the type `target` as the finding states.
    func number(_ value: BSONValue, for target: TypeMask) -> [BSONValue] {
        switch detail {
        case .notANumber: return [["$eq": [value, .double(.nan)]]]
        case .infinity: return [["$in": [value, [.double(.infinity), .double(-.infinity)]]]]
        case .fraction: return [["$ne": [value, ["$trunc": value]]]]
        case .exact where target == .double: return TypeMask(type) == .int ? [] : [asDouble(value, "$eq")]
        case .inexact: return [asDouble(value, "$ne")]
        case .exact where target == .decimal: return []
        case .exact: return integral(value) + within(value, isInt32: target == .int)
        case .beyondInt32:
            return integral(value) + within(value, isInt32: false) + [
                Expression.not(Expression.and(within(value, isInt32: true)))
            ]
        case .beyondInt64:
            return integral(value) + [
                Expression.not(Expression.and(within(value, isInt32: false))),
                Expression.not(["$in": [value, [.double(.infinity), .double(-.infinity), .double(.nan)]]]),
            ]
        default: return []
        }
    }

    private func asDouble(_ value: BSONValue, _ comparison: String) -> BSONValue {
        let double: BSONValue = ["$convert": ["input": value, "to": "double", "onError": nil]]
        return comparison == "$eq" ? ["$eq": [value, double]] : ["$ne": [value, double]]
    }

    private func integral(_ value: BSONValue) -> [BSONValue] {
        TypeMask.integers.contains(TypeMask(type)) ? [] : [["$eq": [value, ["$trunc": value]]]]
    }

    private func within(_ value: BSONValue, isInt32: Bool) -> [BSONValue] {
        isInt32
            ? [["$gte": [value, .int(.min)]], ["$lte": [value, .int(.max)]]]
            : [["$gte": [value, .long(.min)]], ["$lte": [value, .long(.max)]]]
    }

}

extension ValueCondition {
    private func point(_ value: BSONValue) -> BSONValue {
        let coordinates = Expression.field("coordinates", of: value)
        let isNoDouble = Expression.not(Expression.type("$$c", is: "double"))
        let hasOtherTypes = Expression.any(of: coordinates, as: "c", isNoDouble)
        let isShort: BSONValue = ["$lt": [["$size": coordinates], 2]]
        let isArray = Expression.isArray(coordinates)
        let problem: BSONValue =
            switch found.detail {
            case .noCoordinates: ["$in": [["$type": coordinates], ["missing", "null"]]]
            case .coordinateType: Expression.guarded(isArray, hasOtherTypes)
            case .fewCoordinates:
                Expression.guarded(isArray, Expression.and([Expression.not(hasOtherTypes), isShort]))
            default:
                Expression.guarded(
                    isArray,
                    Expression.and([
                        Expression.not(hasOtherTypes), Expression.not(isShort),
                        Expression.not(Expression.and([isWithin(coordinates, 0, 180), isWithin(coordinates, 1, 90)])),
                    ]))
            }
        let isPoint: BSONValue = ["$eq": [Expression.field("type", of: value), "Point"]]
        return Expression.guarded(Expression.type(value, is: "object"), Expression.and([isPoint, problem]))
    }

    /// Returns an expression that is true if an array's element is from `-limit` to `limit`.
    ///
    /// The expression is false for NaN, because NaN sorts below every number.
    private func isWithin(_ array: BSONValue, _ index: Int32, _ limit: Double) -> BSONValue {
        let element: BSONValue = ["$arrayElemAt": [array, .int(index)]]
        return Expression.and([["$gte": [element, .double(-limit)]], ["$lte": [element, .double(limit)]]])
    }
}

/// A collection that a DBRef may lead to: the names of its database and collection, and the types of its `_id`s.
struct ReferenceTarget {
    let database: String
    let collection: String
    let isNear: Bool
    let idTypes: TypeMask

    init(_ reference: CompiledSchema.Reference, in table: FieldTable) {
        (database, collection) = (table.name(reference.database), table.name(reference.collection))
        (isNear, idTypes) = (reference.isNear, reference.idTypes)
    }
}

extension ValueCondition {
    /// Returns an expression that is true if a DBRef leads to no synced collection, or to one whose `_id`s are of other
    /// types.
    func reference(_ value: BSONValue) -> BSONValue {
        let isLink = Expression.and([
            ["$eq": [name(0), ["$literal": "$ref"]]], Expression.type(part(0), is: "string"),
            ["$eq": [name(1), ["$literal": "$id"]]],
        ])
        let condition: BSONValue
        if found.detail == .unsyncedReference {
            condition = Expression.not(leads(to: targets))
        } else {
            let others = targets.filter { found.type == .binData || !$0.idTypes.contains(TypeMask(found.type)) }
            condition = Expression.and([Expression.type(part(1), is: "\(found.type)"), leads(to: others)])
        }
        return Expression.guarded(
            Expression.type(value, is: "object"),
            ["$let": ["vars": ["parts": ["$objectToArray": value]], "in": Expression.guarded(isLink, condition)]])
    }

    private func leads(to targets: [ReferenceTarget]) -> BSONValue {
        let far = targets.map { BSONValue.array(of: [.string($0.database), .string($0.collection)]) }
        let near = targets.filter(\.isNear).map { BSONValue.string($0.collection) }
        let namesDatabase = Expression.and([
            ["$eq": [name(2), ["$literal": "$db"]]], Expression.type(part(2), is: "string"),
        ])
        return [
            "$cond": [
                namesDatabase, ["$in": [[part(2), part(0)], ["$literal": .array(of: far)]]],
                ["$in": [part(0), ["$literal": .array(of: near)]]],
            ]
        ]
    }

    private func name(_ index: Int32) -> BSONValue { ["$arrayElemAt": ["$$parts.k", .int(index)]] }
    private func part(_ index: Int32) -> BSONValue { ["$arrayElemAt": ["$$parts.v", .int(index)]] }
}
