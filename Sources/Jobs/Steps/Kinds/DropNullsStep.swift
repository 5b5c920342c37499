package import BSON
package import LocatedYAML
package import ServerSchema

/// Removes nulls from a list, or the fields that hold null from an object; `undefined` counts as null.
package struct DropNullsStep: AnyDepthStep {
    package static let key = "drop-nulls"

    package var field: FieldPath

    package var target: FieldPath { field }
    package var quick: QuickCondition { .present(field) }
    package var readsInside: [FieldPath] { [field] }
    package var changesInPlace: Bool { true }

    package var description: String { "drop nulls of \(field)" }

    package var loss: String? {
        "where \"\(field)\" held nulls, and how many"
    }

    package var reachesElements: Bool { true }

    package func concerns(_ element: BSONElement, in view: borrowing BSONView) throws(BSONError) -> Bool {
        guard element.type == .object || element.type == .array else { return false }
        let inside = try view.document(element)
        var position = inside.firstPosition
        while let entry = try inside.next(&position) {
            if entry.type == .null || entry.type == .undefined { return true }
        }
        return false
    }

    package func fitted(to type: SchemaType, at location: SourceLocation) throws(JobError) -> Self {
        guard [.array, .object, .mixed].contains(type) else {
            throw JobError(
                "\"\(field)\" is a list or an object, and the next schema declares \(type.rawValue)", at: location)
        }
        return self
    }

    package func body() -> StepBody {
        let value = Expression.field(field)
        let entry = Expression.variable("entry")
        func isNull(_ value: Expression) -> Expression { value.hasType("null", "undefined") }
        let entries = Expression.elements(of: value)
        let hasNull = Expression.call(
            "$anyElementTrue",
            .call("$map", ["input": entries, "as": Expression("entry"), "in": isNull(.variable("entry.v"))]))
        func kept(_ input: Expression, _ tested: Expression) -> Expression {
            .call("$filter", ["input": input, "as": Expression("entry"), "cond": !isNull(tested)])
        }
        let isContainer = value.hasType("array", "object")
        // If a name occurs twice in the object, the document is skipped, because the update would lose one of the two
        // fields.
        let object = Expression.entries(of: value)
        let isWhole =
            !value.hasType("object")
            || (Expression(["$bsonSize": value.bson]) == Expression(["$bsonSize": ["$arrayToObject": object.bson]]))
        return StepBody(
            wanted: .all([isContainer, hasNull, isWhole]),
            value: .choose(
                if: value.hasType("array"), then: kept(value, entry),
                else: Expression(["$arrayToObject": kept(object, .variable("entry.v")).bson])),
            conflicts: [
                (.wrongType, !value.isMissingOrNull && !isContainer),
                (.repeatedName, .all([isContainer, hasNull, !isWhole])),
            ])
    }
}

extension DropNullsStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"drop-nulls\"", allowed: ["field"])
        self.init(field: try members.required("field").fieldPath("field", anyDepth: true))
    }
}
