import BSON
import Patterns
import ServerSchema

/// The keywords of objects.
extension JSONSchemaCompiler {
    mutating func compileObjects(
        _ schema: SchemaNode, of index: Int, into node: inout JSONSchemaPlan.Node, isWhole: Bool
    ) {
        let constraints = schema.constraints
        let restrictsOthers = schema.hasAdditionalProperties || !constraints.patternProperties.isEmpty
        let says =
            !schema.properties.isEmpty || !schema.required.isEmpty || restrictsOthers
            || constraints.minProperties != nil || constraints.maxProperties != nil
            || !constraints.dependencies.isEmpty
        guard says else { return }
        var rule = JSONSchemaPlan.ObjectRule()
        rule.minimum = constraints.minProperties ?? 0
        rule.maximum = constraints.maxProperties ?? .max
        compileFields(schema, of: index, into: &rule)
        let values = plan.origins[index].path.appending(.values)
        let patterns = constraints.patternProperties.map { entry in
            JSONSchemaPlan.PatternField(
                pattern: pattern(entry.pattern, mode: .bytes),
                node: child(entry.node, of: index, path: values, step: .pattern(entry.pattern)))
        }
        rule.firstPattern = Int32(plan.patternFields.count)
        rule.patternCount = Int32(patterns.count)
        plan.patternFields += patterns
        if schema.hasAdditionalProperties {
            rule.additional = others(schema.additionalProperties, of: index, path: values, step: .additional)
        }
        compileDependencies(constraints.dependencies, of: index, into: &rule, isWhole: isWhole)
        node.objects = Int32(plan.objectRules.count)
        plan.objectRules.append(rule)
    }

    /// Lays out the plain names in the field table, and the others beside it.
    mutating func compileFields(
        _ schema: SchemaNode, of index: Int, into rule: inout JSONSchemaPlan.ObjectRule
    ) {
        var names: [String] = []
        var fields: [JSONSchemaPlan.Field] = []
        var others: [JSONSchemaPlan.PathField] = []
        var known: Set<String> = []
        let required = Set(schema.required)
        for property in schema.properties {
            let name = property.name
            let isPlain = Self.isPlain(name) && !known.contains(name)
            let path = path(of: name, below: index)
            let node = child(
                property.node, of: index, path: name.isEmpty ? plan.origins[index].path : path,
                step: .property(name), isWhole: name.isEmpty)
            if !isPlain {
                others.append(
                    .init(
                        components: Self.components(name), node: node, place: node,
                        isRequired: required.contains(name), judgesWhole: name.isEmpty))
            }
            // A field whose very name is a path is known all the same to additionalProperties.
            guard known.insert(name).inserted else { continue }
            names.append(name)
            fields.append(.init(node: isPlain ? node : -1, place: node, isRequired: isPlain && required.contains(name)))
        }
        for name in schema.required where !known.contains(name) {
            let place = child(
                SchemaNode(location: schema.location), of: index, path: path(of: name, below: index),
                step: .property(name))
            if name.contains(".") {
                others.append(
                    .init(
                        components: Self.components(name), node: -1, place: place, isRequired: true, judgesWhole: false)
                )
            } else {
                names.append(name)
                fields.append(.init(node: -1, place: place, isRequired: true, isDeclared: false))
            }
        }
        rule.range = plan.table.append(names)
        plan.fields += fields
        rule.hasRequired = fields.contains(where: \.isRequired)
        rule.firstPath = Int32(plan.paths.count)
        rule.pathCount = Int32(others.count)
        plan.paths += others
    }

    func path(of name: String, below index: Int) -> SchemaPath {
        Self.components(name).reduce(plan.origins[index].path) { $0.appending(.field($1)) }
    }

    static func isPlain(_ name: String) -> Bool { !name.isEmpty && !name.contains(".") }

    static func components(_ name: String) -> [String] {
        name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    mutating func compileDependencies(
        _ dependencies: [Constraints.Dependency], of index: Int, into rule: inout JSONSchemaPlan.ObjectRule,
        isWhole: Bool
    ) {
        let path = plan.origins[index].path
        let compiled = dependencies.map { dependency in
            var result = JSONSchemaPlan.Dependency(field: Self.components(dependency.field), fields: [], node: -1)
            switch dependency.demand {
            case .fields(let names): result.fields = names.map { ($0, Self.components($0)) }
            case .schema(let schema):
                result.node = child(
                    schema, of: index, path: path, step: .dependency(dependency.field), isWhole: isWhole)
            }
            return result
        }
        rule.firstDependency = Int32(plan.dependencies.count)
        rule.dependencyCount = Int32(compiled.count)
        plan.dependencies += compiled
    }
}
