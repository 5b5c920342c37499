import BSON
import Checking
import Jobs
import SchemaChange
import ServerSchema

/// Suggested steps, which the planner writes into the job file as comments, because only the user can decide on them.
extension FindingPlanner {
    /// Returns the steps that may repair a finding for which no step is planned; empty if there are none.
    func suggestions(for finding: ViolationGroup, _ field: String, _ node: SchemaNode?) -> [StepLine] {
        let code = finding.violation.rule
        switch code.rule {
        case .numericLossy:
            guard let type = node?.withoutNull.types.first, Conversion.reaches(type) else { return [] }
            return [.convert(field, from: nil, to: type).allowingLoss]
        case .mixedType, .mixedDBRef, .undefinedValue: return [.plain("unset", field)]
        case .geoPoint:
            guard case .each? = node?.property("coordinates")?.items else { return [] }
            return [.convert("\(field).coordinates\(FieldPath.each)", from: nil, to: .double)]
        case .notInEnum: return [fields.remap(finding, field, node?.constraints.allowedValues ?? [])]
        case _ where Repair(of: code) == .conversion:
            return (node?.constraints.allowedValues).map { [fields.remap(finding, field, $0)] } ?? []
        default: return node.flatMap { limit(for: code.rule, field, $0) }.map { [$0] } ?? []
        }
    }

    /// Returns the step that replaces NaN and the infinities: by null if the field is optional, and otherwise by zero.
    func finite(_ field: String, isOptional: Bool) -> StepLine {
        let numbers = [Double.nan, .infinity, -.infinity].map { YAMLText.literal(.double($0)) }
        return expression(
            field, isOptional ? "null" : "0.0",
            when: "{$in: [\(YAMLText.word(Self.reference(to: field))), [\(numbers.joined(separator: ", "))]]}")
    }

    /// Returns the step that replaces numbers beyond a limit by the limit, or shortens texts or lists to it.
    ///
    /// Returns `nil` if the schema states no limit that a step can write.
    private func limit(for rule: Rule?, _ field: String, _ node: SchemaNode) -> StepLine? {
        let constraints = node.constraints
        let value = YAMLText.word(Self.reference(to: field))
        func number(_ bound: Constraints.Bound, _ choice: String, _ comparison: String) -> StepLine? {
            let type = node.withoutNull.types.first
            guard let limit = bound.number, !bound.isExclusive, let fitted = type.map(limit.fitted) ?? limit else {
                return nil
            }
            let text = YAMLText.literal(fitted)
            return expression(
                field, "{\(choice): [\(value), \(text)]}",
                when: "{$and: [{$isNumber: \(value)}, {\(comparison): [\(value), \(text)]}]}")
        }
        func cut(_ count: Int64?, _ step: (Int64) -> String, type: String, size: String) -> StepLine? {
            guard let count, count > 0 else { return nil }
            // The size is computed only for values of the right type, because `$strLenCP` and `$size` fail for values
            // of other types.
            let isOfType = "{$eq: [{$type: \(value)}, \(type)]}"
            return expression(
                field, step(count), when: "{$cond: [\(isOfType), {$gt: [{\(size): \(value)}, \(count)]}, false]}")
        }
        switch rule {
        case .belowMinimum: return number(constraints.minimum, "$max", "$lt")
        case .aboveMaximum: return number(constraints.maximum, "$min", "$gt")
        case .tooLong:
            return cut(
                constraints.length.maximum, { "{$substrCP: [\(value), 0, \($0)]}" }, type: "string", size: "$strLenCP")
        case .tooManyItems:
            return cut(constraints.itemCount.maximum, { "{$slice: [\(value), \($0)]}" }, type: "array", size: "$size")
        default: return nil
        }
    }

    func expression(_ field: String, _ value: String, when: String) -> StepLine {
        StepLine("expression", ["field": .text(field), "value": .verbatim(value), "when": .verbatim(when)])
    }

    /// Returns the path by which an expression refers to a step's field.
    ///
    /// For a field inside the elements of a list (`[]`), the path begins at the element.
    static func reference(to field: String) -> String {
        let names = field.namesOfJobPath
        guard let each = names.lastIndex(of: FieldPath.each) else { return "$\(field)" }
        let inner = names[(each + 1)...].joined(separator: ".")
        return inner.isEmpty ? "$$CURRENT" : "$\(inner)"
    }
}
