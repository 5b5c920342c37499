package import BSON
package import LocatedYAML
package import ServerSchema

/// Removes repeated elements from a list; of equal elements, the first one stays, or the last one.
package struct DedupeStep: StepKind {
    package static let key = "dedupe"

    /// The elements that count as equal.
    package enum Equality: Hashable, Sendable {
        /// Numbers are equal if they have the same value, whatever their type, and texts if they have the same bytes.
        /// Objects and lists are equal only if they are certainly the same in every type and digit.
        case exact
        /// Elements are equal if `uniqueItems` of a validator finds them equal: in objects and lists, too, numbers are
        /// compared by value, and the order of an object's fields does not matter.
        case equal
        /// Objects are equal if their values at this path are, by ``equal``; an object that lacks it equals no other.
        case key(FieldPath)
    }

    package let field: FieldPath
    package var by = Equality.exact
    package var keepsLast = false

    package var target: FieldPath { field }
    package var quick: QuickCondition { .present(field) }
    package var readsInside: [FieldPath] { [field] }
    package var changesInPlace: Bool { true }

    package var description: String {
        switch by {
        case .exact: "dedupe \(field)"
        case .equal: "dedupe \(field) by equal"
        case .key(let path): "dedupe \(field) by \(path)" + (keepsLast ? ", keeping the last" : "")
        }
    }

    package var clientComputation: ClientComputation? { by == .exact ? nil : .dedupe(self) }

    package var loss: String? {
        "the repeated elements of \"\(field)\" and their numeric types"
    }

    package func fitted(to type: SchemaType, at location: SourceLocation) throws(JobError) -> Self {
        guard type == .array || type == .mixed else {
            throw JobError("\"\(field)\" is a list, and the next schema declares \(type.rawValue)", at: location)
        }
        return self
    }

    package func body() -> StepBody {
        let value = Expression.field(field)
        let isList = value.hasType("array")
        let conflicts = [(CompiledStep.Reason.wrongType, !value.isMissingOrNull && !isList)]
        guard by == .exact else {
            let isLong = Expression.choose(
                if: isList, then: .call("$gt", size(value), .constant(1)), else: .constant(false))
            return StepBody(wanted: isLong, value: .null, conflicts: conflicts)
        }
        // A fast test excludes most lists: a list has no repeated elements if no two elements are equal by `$eq`.
        let mayRepeat = !(size(Expression(["$setUnion": [value.bson]])) == size(value))
        let distinct = distinct(value)
        return StepBody(
            wanted: .all([isList, mayRepeat, !(size(distinct) == size(value))]), value: distinct,
            conflicts: conflicts)
    }

    private func size(_ list: Expression) -> Expression { Expression(["$size": list.bson]) }

    private func distinct(_ list: Expression) -> Expression {
        let (index, element) = (Expression.variable("index"), Expression.variable("element"))
        let first = Expression.variable("first")
        func item(_ index: Expression) -> Expression { .call("$arrayElemAt", list, index) }
        let earlier = Expression.call(
            "$map",
            [
                "input": .call("$slice", list, .constant(0), index), "as": Expression("other"),
                "in": isEqual(.variable("other"), element),
            ])
        // `first` is the index of the first element that equals `element` by `$eq`. This is usually the element itself,
        // or one that is exactly equal to it. In both cases, no other element is compared.
        let isFirst = Expression.let(
            ["element": item(index)],
            in: .let(
                ["first": .call("$indexOfArray", list, element)],
                in: .any([
                    first == index,
                    .all([!isEqual(item(first), element), !Expression.call("$anyElementTrue", earlier)]),
                ])))
        let kept = Expression([
            "$filter": [
                "input": ["$range": [0, size(list).bson]], "as": "index", "cond": isFirst.bson,
            ]
        ])
        return .call("$map", ["input": kept, "as": Expression("index"), "in": item(index)])
    }

    private func isEqual(_ left: Expression, _ right: Expression) -> Expression {
        func isNumber(_ value: Expression) -> Expression { value.hasType("int", "long", "double", "decimal") }
        return .any([
            .all([isNumber(left), isNumber(right), left == right]), .identical(left, right),
        ])
    }
}

extension DedupeStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"dedupe\"", allowed: ["field", "by", "keep"])
        field = try members.required("field").fieldPath("field")
        if let node = members["by"] {
            switch try node.text(of: "\"by\"") {
            case "exact": by = .exact
            case "equal": by = .equal
            case let name:
                let key = try node.fieldPath(name, in: "by", isRead: true)
                guard !key.leadsIntoElements else {
                    throw node.error("\"by\" is exact, equal, or a field of each element, reached through objects")
                }
                by = .key(key)
            }
        }
        if let node = members["keep"] {
            guard case .key = by else { throw node.error("\"keep\" needs \"by: FIELD\": equal elements are alike") }
            keepsLast = try node.choice("keep") as Keep == .last
        }
    }

    private enum Keep: String, CaseIterable { case first, last }
}
