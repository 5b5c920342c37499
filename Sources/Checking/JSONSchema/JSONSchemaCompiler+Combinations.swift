import BSON
import ServerSchema

/// `enum`, `encrypt`, and the keywords that combine schemas.
extension JSONSchemaCompiler {
    mutating func compileValues(
        _ schema: SchemaNode, of index: Int, into node: inout JSONSchemaPlan.Node, isWhole: Bool
    ) {
        let constraints = schema.constraints
        guard
            constraints.allowedValues != nil || !constraints.combinations.isEmpty || constraints.encryption != nil
        else { return }
        var rule = JSONSchemaPlan.ValueRule()
        if let values = constraints.allowedValues {
            rule.firstAllowed = Int32(plan.allowedValues.count)
            rule.allowedCount = Int32(values.count)
            var allowed = values.map { value in
                let holder = BSONDocument([("", value)])
                return (hash: ValueHash.hash(onlyElementOf: holder), holder: holder)
            }
            if allowed.count > JSONSchemaPlan.ValueRule.fewValues { allowed.sort { $0.hash < $1.hash } }
            plan.allowedValues += allowed.map(\.holder)
            plan.allowedHashes += allowed.map(\.hash)
        }
        if let encryption = constraints.encryption {
            rule.isEncrypted = true
            rule.namesEncryptedTypes = encryption.types != nil
            rule.encryptedTypes = encryption.types.map { TypeMask($0.map { TypeMask($0) }) } ?? .all
        }
        let path = plan.origins[index].path
        let combinations = constraints.combinations.map { combination in
            let first = reserve(combination.nodes.count, parent: index, path: path)
            for (offset, schema) in combination.nodes.enumerated() {
                compile(
                    schema, at: first + offset, step: .combination(combination.kind, offset), isWhole: isWhole)
            }
            return JSONSchemaPlan.Combination(
                kind: combination.kind, first: Int32(first), count: Int32(combination.nodes.count))
        }
        rule.firstCombination = Int32(plan.combinations.count)
        rule.combinationCount = Int32(combinations.count)
        plan.combinations += combinations
        node.values = Int32(plan.valueRules.count)
        plan.valueRules.append(rule)
    }
}
