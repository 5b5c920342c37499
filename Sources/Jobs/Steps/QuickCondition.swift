package import BSON
import ServerSchema

/// Conditions in the match language, which cost the server a fraction of an expression: each holds of every document of a
/// kind, and of others too.
package struct QuickCondition: Sendable {
    /// Holds of every document that needs the step; `nil` where nothing so simple does.
    package var need: BSONDocument?
    /// Holds of every document that the step needs or leaves alone for a reason; `nil` where nothing so simple does.
    package var concern: BSONDocument?

    /// Of a step that looks at the documents which have a field: where the field has parents, what stands in their place, or
    /// does not, is told of any document.
    /// - Parameter others: further fields that it reads.
    static func present(_ path: FieldPath, besides others: [FieldPath] = []) -> QuickCondition {
        let exists = BSONValue.object(["$exists": true])
        return QuickCondition(
            need: [path.untilElements.description: exists],
            concern: ([path.untilElements] + others).allSatisfy(\.parents.isEmpty) ? [path.topLevel: exists] : nil)
    }

    /// Of a step that changes the values of a field in place, but for those of one type and for nulls.
    ///
    /// The other types are named, which takes the server less than half of what it takes to ask for none of these two. Of a
    /// list it looks at the elements, too.
    static func present(_ path: FieldPath, notOf type: SchemaType) -> QuickCondition {
        guard !path.leadsIntoElements else { return present(path) }
        let others = SchemaType.allCases.filter { ![type, .null, .number, .uuid, .mixed].contains($0) }
        let isOther: BSONDocument = [
            path.description: ["$type": .array(of: others.map { .string($0.rawValue) })]
        ]
        return QuickCondition(need: isOther, concern: path.parents.isEmpty ? isOther : nil)
    }

    /// Of a step that fills a field: where the field has parents, those may be why a document is left alone.
    static func missing(_ path: FieldPath, orNull: Bool) -> QuickCondition {
        guard !path.leadsIntoElements else { return present(path) }
        let name = path.description
        let isMissing: BSONDocument =
            orNull ? ["$or": [[name: ["$eq": .null]], [name: ["$type": "undefined"]]]] : [name: ["$exists": false]]
        return QuickCondition(need: isMissing, concern: path.parents.isEmpty ? isMissing : nil)
    }
}

extension [CompiledStep] {
    /// Holds of every document that needs one of the steps; `nil` where nothing simple does.
    package var quickNeed: BSONDocument? { Self.any(map { $0.step.kind.quick.need }) }

    /// Holds of every document that one of the steps needs or leaves alone; `nil` where nothing simple does.
    package var quickConcern: BSONDocument? { Self.any(map { $0.step.kind.quick.concern }) }

    private static func any(_ conditions: [BSONDocument?]) -> BSONDocument? {
        let known = Set(conditions.compactMap(\.self))
        guard conditions.allSatisfy({ $0 != nil }), let first = known.first else { return nil }
        guard known.count > 1 else { return first }
        return ["$or": .array(of: conditions.compactMap { $0.map { .object($0) } })]
    }
}
