package import BSON
import ServerSchema

/// Conditions in the match language, which cost the server a fraction of an expression.
///
/// Each holds for every document that it is to find, and for some others.
package struct QuickCondition: Sendable {
    /// A condition that every document needing the step meets; `nil` if there is no such simple one.
    package var need: BSONDocument?
    /// A condition that every document meets that the step changes or skips; `nil` if there is no such simple one.
    package var concern: BSONDocument?

    /// Returns the conditions of a step that applies to documents in which a field is present.
    ///
    /// If a field has parents, ``concern`` is `nil`, because parents that are missing or of another type matter too.
    /// - Parameter others: Further fields that the step reads.
    static func present(_ path: FieldPath, besides others: [FieldPath] = []) -> QuickCondition {
        let exists = BSONValue.object(["$exists": true])
        return QuickCondition(
            need: [path.untilElements.description: exists],
            concern: ([path.untilElements] + others).allSatisfy(\.parents.isEmpty) ? [path.topLevel: exists] : nil)
    }

    /// Returns the conditions of a step that changes a field's values in place, except nulls and those of one type.
    ///
    /// The condition names all other types, which takes the server less than half as long as excluding these two. In a
    /// list, it tests the elements too.
    static func present(_ path: FieldPath, notOf type: SchemaType) -> QuickCondition {
        guard !path.leadsIntoElements else { return present(path) }
        let others = SchemaType.allCases.filter { ![type, .null, .number, .uuid, .mixed].contains($0) }
        let isOther: BSONDocument = [
            path.description: ["$type": .array(of: others.map { .string($0.rawValue) })]
        ]
        return QuickCondition(need: isOther, concern: path.parents.isEmpty ? isOther : nil)
    }

    /// Returns the conditions of a step that fills a field.
    ///
    /// If the field has parents, ``concern`` is `nil`, because a document may be skipped for its parents.
    static func missing(_ path: FieldPath, orNull: Bool) -> QuickCondition {
        guard !path.leadsIntoElements else { return present(path) }
        let name = path.description
        let isMissing: BSONDocument =
            orNull ? ["$or": [[name: ["$eq": .null]], [name: ["$type": "undefined"]]]] : [name: ["$exists": false]]
        return QuickCondition(need: isMissing, concern: path.parents.isEmpty ? isMissing : nil)
    }
}

extension [CompiledStep] {
    /// A condition that every document needing one of the steps meets; `nil` if there is no such simple one.
    package var quickNeed: BSONDocument? { Self.any(map { $0.step.kind.quick.need }) }

    /// A condition that every document meets that one of the steps changes or skips; `nil` if none is so simple.
    package var quickConcern: BSONDocument? { Self.any(map { $0.step.kind.quick.concern }) }

    private static func any(_ conditions: [BSONDocument?]) -> BSONDocument? {
        let known = Set(conditions.compactMap(\.self))
        guard conditions.allSatisfy({ $0 != nil }), let first = known.first else { return nil }
        guard known.count > 1 else { return first }
        return ["$or": .array(of: conditions.compactMap { $0.map { .object($0) } })]
    }
}
