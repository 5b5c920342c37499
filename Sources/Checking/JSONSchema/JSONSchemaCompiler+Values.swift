import BSON
import Patterns
import ServerSchema

/// The keywords of scalars and arrays.
extension JSONSchemaCompiler {
    mutating func compileNumbers(_ constraints: Constraints, into node: inout JSONSchemaPlan.Node) {
        var rule = NumberRule()
        rule.minimum = constraints.minimum.flatMap { BSONNumber($0) }
        rule.isMinimumExclusive = constraints.isMinimumExclusive
        rule.maximum = constraints.maximum.flatMap { BSONNumber($0) }
        rule.isMaximumExclusive = constraints.isMaximumExclusive
        rule.divisor = constraints.multipleOf.flatMap { BSONNumber($0) }.map { Divisor($0) }
        guard rule.minimum != nil || rule.maximum != nil || rule.divisor != nil else { return }
        node.numbers = Int32(plan.numberRules.count)
        plan.numberRules.append(rule)
    }

    mutating func compileStrings(_ constraints: Constraints, into node: inout JSONSchemaPlan.Node) {
        guard constraints.minLength != nil || constraints.maxLength != nil || constraints.pattern != nil else { return }
        var rule = JSONSchemaPlan.StringRule()
        rule.minimum = constraints.minLength ?? 0
        rule.maximum = constraints.maxLength ?? .max
        if let text = constraints.pattern { rule.pattern = pattern(text, mode: .characters) }
        node.strings = Int32(plan.stringRules.count)
        plan.stringRules.append(rule)
    }

    mutating func compileArrays(_ schema: SchemaNode, of index: Int, into node: inout JSONSchemaPlan.Node) {
        let constraints = schema.constraints
        var rule = JSONSchemaPlan.ArrayRule()
        rule.minimum = constraints.minItems ?? 0
        rule.maximum = constraints.maxItems ?? .max
        rule.isUnique = schema.uniqueItems
        let path = plan.origins[index].path.appending(.elements)
        switch schema.items {
        case nil: break
        case .each(let element): rule.items = child(element, of: index, path: path, step: .items)
        case .tuple(let elements):
            rule.tupleCount = Int32(elements.count)
            rule.firstInTuple = Int32(reserve(elements.count, parent: index, path: path))
            for (offset, element) in elements.enumerated() {
                compile(element, at: Int(rule.firstInTuple) + offset, step: .tuple(offset), isWhole: false)
            }
            rule.additional = others(constraints.additionalItems, of: index, path: path, step: .additionalItems)
        }
        let says =
            constraints.minItems != nil || constraints.maxItems != nil || rule.isUnique || rule.items >= 0
            || rule.tupleCount > 0 || rule.additional.isRestricted
        guard says else { return }
        node.arrays = Int32(plan.arrayRules.count)
        plan.arrayRules.append(rule)
    }

    mutating func others(
        _ demand: SchemaNode.AdditionalProperties?, of index: Int, path: SchemaPath,
        step: JSONSchemaPlan.Origin.Step
    ) -> JSONSchemaPlan.Others {
        switch demand {
        case nil, .allowed: .allowed
        case .forbidden: .forbidden
        case .schema(let schema): .init(node: child(schema, of: index, path: path, step: step))
        }
    }
}
