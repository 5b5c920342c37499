import BSON

/// A collection that a DBRef may lead to, by its names.
struct ReferenceTarget {
    let database: String
    let collection: String
    let isNear: Bool
    let idTypes: TypeMask
}

extension CompiledSchema {
    /// The collections that a DBRef may lead to, by their names.
    var referenceTargets: [ReferenceTarget] {
        references.map {
            ReferenceTarget(
                database: table.name($0.database), collection: table.name($0.collection), isNear: $0.isNear,
                idTypes: $0.idTypes)
        }
    }
}

extension ValueCondition {
    /// The condition of a DBRef: that it leads to no synced collection, or to one whose `_id`s are of other types.
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
