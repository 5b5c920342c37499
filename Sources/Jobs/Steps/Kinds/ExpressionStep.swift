package import BSON
package import LocatedYAML

/// Sets a field to the value of an aggregation expression from the job file.
///
/// If the field's path contains a `[]`, paths in the expression begin at the element. `$$CURRENT` is the element, and
/// `$$ROOT` is the document.
package struct ExpressionStep: StepKind {
    package static let key = "expression"

    let field: FieldPath
    /// The expression whose result is the field's new value.
    package let value: Expression
    /// The condition under which the step changes a document, or an element of a list or dictionary.
    let when: Expression
    /// The field that marks a document as done; `nil` if the new value itself shows that the step is done.
    package let once: FieldPath?

    package var target: FieldPath { field }
    /// The fields that the expressions read, and the top-level field that contains the target.
    package var readsInside: [FieldPath] {
        [FieldPath(trusted: [field.topLevel])] + (value.fields + when.fields).map { FieldPath(trusted: [$0]) }
    }
    package var changesInPlace: Bool { true }
    package var marker: FieldPath? { once }
    package var isFreeForm: Bool { true }
    package var operators: Set<String> { value.operators.union(when.operators) }

    package var description: String { "expression for \(field)" + (once.map { ", once by \($0)" } ?? "") }

    package var loss: String? {
        "whatever the expression drops from the values of \"\(field)\""
    }

    package func resolved(at now: Int64) -> Self {
        ExpressionStep(field: field, value: value.resolved(at: now), when: when.resolved(at: now), once: once)
    }

    package func body() -> StepBody {
        let result = inElement(value)
        // The step does not apply if the expression's result is missing, because then there is no value to set.
        let isValue = !result.isMissing
        let isDue = [inElement(when), isValue]
        return StepBody(
            wanted: .all(isDue + (once == nil ? [!.same(.field(field), result)] : [])), value: result)
    }

    /// Returns the expression unchanged or, if the field is inside elements, with `CURRENT` bound to the element.
    private func inElement(_ expression: Expression) -> Expression {
        field.leadsIntoElements ? .let(["CURRENT": Expression("$v")], in: expression) : expression
    }
}

extension ExpressionStep {
    package init(_ node: YAMLNode) throws(JobError) {
        let members = try node.members(of: "\"expression\"", allowed: ["field", "value", "cases", "when", "once"])
        field = try members.required("field").fieldPath("field")
        let isOfElement = field.leadsIntoElements
        if let cases = members["cases"] {
            if let node = members["value"] { throw node.error("give either \"value\" or \"cases\"") }
            value = try Self.value(of: cases, isOfElement: isOfElement)
        } else {
            value = try ExpressionLiteral.expression(try members.required("value"), isOfElement: isOfElement)
        }
        var when = Expression.constant(true)
        if let node = members["when"] { when = try ExpressionLiteral.expression(node, isOfElement: isOfElement) }
        self.when = when
        once = try members["once"]?.marker(apartFrom: field)
    }

    /// Reads `cases` as one expression: the value of the first case whose condition holds, which is missing if none
    /// does.
    private static func value(of cases: YAMLNode, isOfElement: Bool) throws(JobError) -> Expression {
        var read: [(condition: Expression?, value: Expression)] = []
        for node in try cases.elements(of: "\"cases\"") {
            if let last = read.last, last.condition == nil {
                throw node.error("this case never applies: the one before it has no \"where\"")
            }
            let members = try node.members(of: "an entry of \"cases\"", allowed: ["where", "value"])
            let condition = try members["where"].map { (node) throws(JobError) in
                try ExpressionLiteral.condition(node)
            }
            let value = try ExpressionLiteral.expression(try members.required("value"), isOfElement: isOfElement)
            read.append((condition, value))
        }
        return read.reversed().reduce(.removed) { rest, next in
            next.condition.map { .choose(if: $0, then: next.value, else: rest) } ?? next.value
        }
    }
}
