package import BSON
import ServerSchema

/// Query conditions that find the documents of a step; the server evaluates them much faster than an expression.
///
/// A condition never misses a document that it has to find, but it may also match other documents.
package struct QuickCondition: Sendable {
    /// A condition met by every document that needs the step; `nil` if no simple condition is known.
    package var need: BSONDocument?
    /// A condition met by every document that the step changes or skips; `nil` if no simple condition is known.
    package var relevance: BSONDocument?

    /// Returns the conditions for a step that applies to documents in which a field is present.
    ///
    /// ``relevance`` is `nil` if one of the fields is inside an object. The step then also skips documents in which the
    /// object is missing or is a value of another type, and no simple condition finds these documents.
    /// - Parameter others: other fields that the step reads or writes.
    static func present(_ path: FieldPath, with others: [FieldPath] = []) -> QuickCondition {
        let exists = BSONValue.object(["$exists": true])
        return QuickCondition(
            need: [path.untilElements.description: exists],
            relevance: ([path.untilElements] + others).allSatisfy(\.parents.isEmpty) ? [path.topLevel: exists] : nil)
    }

    /// Returns the conditions for a step that changes a field's values in place, but keeps nulls and values of the
    /// given types.
    ///
    /// The conditions list all other types, because the server tests such a list in less than half the time that it
    /// needs to exclude null and a single type. If the value is a list, a query also tests the elements of the list.
    static func present(_ path: FieldPath, notOf types: [SchemaType]) -> QuickCondition {
        guard !path.leadsIntoElements else { return present(path) }
        let skipped = types + [.null, .number, .uuid, .mixed]
        let others = SchemaType.allCases.filter { !skipped.contains($0) }
        let isOther: BSONDocument = [
            path.description: ["$type": .array(of: others.map { .string($0.rawValue) })]
        ]
        return QuickCondition(need: isOther, relevance: path.parents.isEmpty ? isOther : nil)
    }

    /// Returns the conditions for a step that fills a missing field.
    ///
    /// ``relevance`` is `nil` if the field is inside an object. The step then also skips documents in which the object
    /// is missing or is a value of another type, and no simple condition finds these documents.
    static func missing(_ path: FieldPath, orNull: Bool) -> QuickCondition {
        guard !path.leadsIntoElements else { return present(path) }
        let name = path.description
        let isMissing: BSONDocument =
            orNull ? ["$or": [[name: ["$eq": .null]], [name: ["$type": "undefined"]]]] : [name: ["$exists": false]]
        return QuickCondition(need: isMissing, relevance: path.parents.isEmpty ? isMissing : nil)
    }
}

extension [CompiledStep] {
    /// A condition met by every document that needs at least one of the steps; `nil` if a step has no known simple
    /// condition.
    package var quickNeed: BSONDocument? { Self.any(map { $0.step.kind.quick.need }) }

    /// A condition met by every document that at least one of the steps changes or skips; `nil` if a step has no known
    /// simple condition.
    package var quickRelevance: BSONDocument? { Self.any(map { $0.step.kind.quick.relevance }) }

    private static func any(_ conditions: [BSONDocument?]) -> BSONDocument? {
        let known = Set(conditions.compactMap(\.self))
        guard conditions.allSatisfy({ $0 != nil }), let first = known.first else { return nil }
        guard known.count > 1 else { return first }
        return ["$or": .array(of: conditions.compactMap { $0.map { .object($0) } })]
    }
}
