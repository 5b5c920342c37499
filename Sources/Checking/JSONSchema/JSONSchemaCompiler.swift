import BSON
import Patterns
import ServerSchema

/// Flattens a schema of the `jsonschema` dialect into the arrays of a ``JSONSchemaPlan``.
struct JSONSchemaCompiler {
    var plan = JSONSchemaPlan()
    /// Whether the findings of a value that fits no schema of `anyOf` or `oneOf` are those of the schema it selects.
    private let explainsBranches: Bool

    init(root: SchemaNode, explainsBranches: Bool = true) {
        self.explainsBranches = explainsBranches
        let index = reserve(1, parent: -1, path: SchemaPath())
        compile(root, at: index, step: .root, isWhole: true)
    }

    /// Appends `count` nodes next to each other, and returns the index of the first one.
    mutating func reserve(_ count: Int, parent: Int, path: SchemaPath) -> Int {
        let first = plan.nodes.count
        for _ in 0..<count {
            plan.nodes.append(JSONSchemaPlan.Node())
            plan.origins.append(
                JSONSchemaPlan.Origin(
                    schema: SchemaNode(location: SourceLocation(whole: "")), path: path, parent: Int32(parent),
                    step: .root))
        }
        return first
    }

    /// Compiles a schema into the node at `index`.
    /// - Parameter isWhole: Whether the schema judges the whole document. Keywords of scalars and arrays then have no
    ///   effect, and mongod does not even compile the regular expression of `pattern`.
    mutating func compile(
        _ schema: SchemaNode, at index: Int, step: JSONSchemaPlan.Origin.Step, isWhole: Bool
    ) {
        plan.origins[index].schema = schema
        plan.origins[index].step = step
        var node = JSONSchemaPlan.Node()
        if !schema.types.isEmpty {
            node.isStated = true
            node.isSingle = schema.types.count == 1
            node.accepts = TypeMask(schema.types.map { TypeMask($0) })
        }
        if !isWhole {
            compileNumbers(schema.constraints, into: &node)
            compileStrings(schema.constraints, into: &node)
            compileArrays(schema, of: index, into: &node)
        }
        compileObjects(schema, of: index, into: &node, isWhole: isWhole)
        compileValues(schema, of: index, into: &node, isWhole: isWhole)
        node.plain = Self.plainTypes(of: node)
        plan.nodes[index] = node
    }

    /// Returns the types whose values fit the node without a further check.
    static func plainTypes(of node: JSONSchemaPlan.Node) -> TypeMask {
        if node.values >= 0 { return [] }
        var plain = node.accepts
        if node.numbers >= 0 { plain.subtract(.numbers) }
        if node.strings >= 0 { plain.remove(.string) }
        if node.arrays >= 0 { plain.remove(.array) }
        if node.objects >= 0 { plain.remove(.object) }
        return plain
    }

    mutating func child(
        _ schema: SchemaNode, of index: Int, path: SchemaPath, step: JSONSchemaPlan.Origin.Step, isWhole: Bool = false
    ) -> Int32 {
        let child = reserve(1, parent: index, path: path)
        compile(schema, at: child, step: step, isWhole: isWhole)
        return Int32(child)
    }

    mutating func pattern(_ text: String, mode: Pattern.Mode) -> Int32 {
        do throws(PatternError) {
            plan.patterns.append(try Pattern(text, mode: mode))
        } catch {
            preconditionFailure("the reader compiled this pattern before: \(error)")
        }
        return Int32(plan.patterns.count - 1)
    }
}

/// Compiles `enum`, `encrypt`, and the keywords that combine schemas.
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
            rule.firstAllowed = plan.allowed.append(values)
            rule.allowedCount = Int32(values.count)
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
            if explainsBranches, [.anyOf, .oneOf].contains(combination.kind) {
                compileSelectors(of: combination.nodes, first: Int32(first), owner: index)
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

/// Compiles the fields by whose values a value selects one of the schemas of `anyOf` or `oneOf`.
extension JSONSchemaCompiler {
    /// - Parameters:
    ///   - first: The node of the first schema.
    ///   - owner: The node that has the keyword.
    private mutating func compileSelectors(of schemas: [SchemaNode], first: Int32, owner: Int) {
        let objects = schemas.enumerated().filter { $1.types.isEmpty || $1.types.contains(.object) }
        // The type alone selects the only schema of objects.
        guard objects.count > 1 else { return }
        let all = objects.flatMap { offset, schema in
            schema.selectors.map { (first + Int32(offset), $0.name, $0.value) }
        }
        let shared = all.first { field in objects.allSatisfy { $1.selectors.contains { $0.name == field.1 } } }
        let values = all.filter { $0.1 == shared?.1 }.map(\.2)
        var node: Int32 = -1
        if let name = shared?.1 {
            var field = SchemaNode(location: schemas[0].location)
            field.constraints.allowedValues = values
            let path = plan.origins[owner].path.appending(.field(name))
            node = child(field, of: owner, path: path, step: .property(name))
        }
        plan.selectors += all.map { member, name, value in
            .init(
                member: member, name: name, value: value, allowed: plan.allowed.append([value]),
                excludesOthers: node >= 0 && Set(values).count == objects.count,
                discriminator: name == shared?.1 ? node : -1, isRequired: plan.origins[owner].schema.requires(name))
        }
    }

    /// Returns a schema that combines the schema at `index` and has an equal schema for the same field; `nil` if there
    /// is none.
    ///
    /// That schema judges the field's values already, so a value that fits neither has one finding instead of two.
    private func schemaAround(_ index: Int, judging property: SchemaNode.Property) -> SchemaNode? {
        var index = index
        while explainsBranches, case .combination(let kind, _) = plan.origins[index].step, kind != .not {
            index = Int(plan.origins[index].parent)
            let schema = plan.origins[index].schema
            if schema.property(property.name)?.jsonSchema == property.node.jsonSchema { return schema }
        }
        return nil
    }
}

extension SchemaNode {
    /// The fields for which the schema allows only one value, with these values.
    var selectors: [(name: String, value: BSONValue)] {
        properties.compactMap { property in
            guard JSONSchemaCompiler.isPlain(property.name), let values = property.node.constraints.allowedValues,
                values.count == 1
            else { return nil }
            return (property.name, values[0])
        }
    }
}

/// Compiles the keywords of objects.
extension JSONSchemaCompiler {
    private mutating func compileObjects(
        _ schema: SchemaNode, of index: Int, into node: inout JSONSchemaPlan.Node, isWhole: Bool
    ) {
        let constraints = schema.constraints
        let restrictsOthers = schema.hasAdditionalProperties || !constraints.patternProperties.isEmpty
        let says =
            !schema.properties.isEmpty || !schema.required.isEmpty || restrictsOthers
            || constraints.propertyCount.isRestricted || !constraints.dependencies.isEmpty
        guard says else { return }
        var rule = JSONSchemaPlan.ObjectRule()
        rule.minimum = constraints.propertyCount.minimum ?? 0
        rule.maximum = constraints.propertyCount.maximum ?? .max
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

    /// Compiles the names in `properties` and `required` into entries of the plan's field table, into instances of
    /// ``JSONSchemaPlan/PathField``, or into both.
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
            // The table contains names with a dot as well, because `additionalProperties` takes such a name literally.
            guard known.insert(name).inserted else { continue }
            names.append(name)
            let around = isPlain ? schemaAround(index, judging: property) : nil
            let isRequired = isPlain && required.contains(name) && around?.requires(name) != true
            fields.append(.init(node: isPlain && around == nil ? node : -1, place: node, isRequired: isRequired))
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

    private mutating func compileDependencies(
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

/// Compiles the keywords of scalars and arrays.
extension JSONSchemaCompiler {
    private mutating func compileNumbers(_ constraints: Constraints, into node: inout JSONSchemaPlan.Node) {
        var rule = NumberRule()
        rule.minimum = constraints.minimum.number.flatMap { BSONNumber($0) }
        rule.isMinimumExclusive = constraints.minimum.isExclusive
        rule.maximum = constraints.maximum.number.flatMap { BSONNumber($0) }
        rule.isMaximumExclusive = constraints.maximum.isExclusive
        rule.divisor = constraints.multipleOf.flatMap { BSONNumber($0) }.map { Divisor($0) }
        guard rule.minimum != nil || rule.maximum != nil || rule.divisor != nil else { return }
        node.numbers = Int32(plan.numberRules.count)
        plan.numberRules.append(rule)
    }

    private mutating func compileStrings(_ constraints: Constraints, into node: inout JSONSchemaPlan.Node) {
        guard constraints.length.isRestricted || constraints.pattern != nil else { return }
        var rule = JSONSchemaPlan.StringRule()
        rule.minimum = constraints.length.minimum ?? 0
        rule.maximum = constraints.length.maximum ?? .max
        if let text = constraints.pattern { rule.pattern = pattern(text, mode: .characters) }
        node.strings = Int32(plan.stringRules.count)
        plan.stringRules.append(rule)
    }

    private mutating func compileArrays(_ schema: SchemaNode, of index: Int, into node: inout JSONSchemaPlan.Node) {
        let constraints = schema.constraints
        var rule = JSONSchemaPlan.ArrayRule()
        rule.minimum = constraints.itemCount.minimum ?? 0
        rule.maximum = constraints.itemCount.maximum ?? .max
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
            constraints.itemCount.isRestricted || rule.isUnique || rule.items >= 0
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
