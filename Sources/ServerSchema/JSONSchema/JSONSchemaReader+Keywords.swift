internal import BSON
internal import Patterns

/// Reads the keywords that apply to objects.
extension JSONSchemaReader {
    func readObjects(_ keywords: KeywordTable, into node: inout SchemaNode, isWhole: Bool) throws(SchemaError) {
        if let json = keywords[.required] { node.required = try names(json, of: "required") }
        if let json = keywords[.properties] {
            guard let members = json.members else { throw json.wrong(.properties, "an object of schemas") }
            node.hasProperties = true
            var properties: [SchemaNode.Property] = []
            properties.reserveCapacity(members.count)
            defer { node.properties = properties }
            for member in members {
                // mongod applies the schema of a property named "" to the object itself, and not to a field.
                var schema = SchemaNode(location: member.value.location)
                try attempt { () throws(SchemaError) in
                    schema = try subschema(
                        member.value, of: "property \"\(member.name)\"", isWhole: member.name.isEmpty)
                }
                properties.append(SchemaNode.Property(name: member.name, node: schema))
            }
        }
        if let json = keywords[.patternProperties] { try readPatterns(json, into: &node) }
        if let json = keywords[.additionalProperties] {
            node.hasAdditionalProperties = true
            node.additionalProperties = try flagOrSchema(json, of: .additionalProperties)
        }
        if let range = try counts(keywords, .minProperties, .maxProperties) { node.constraints.propertyCount = range }
        if let json = keywords[.dependencies] { try readDependencies(json, into: &node, isWhole: isWhole) }
    }

    private func readPatterns(_ json: LocatedBSON, into node: inout SchemaNode) throws(SchemaError) {
        guard let members = json.members else { throw json.wrong(.patternProperties, "an object of schemas") }
        var patterns: [SchemaNode.PatternProperty] = []
        defer { node.constraints.patternProperties = patterns }
        for member in members {
            let schema = try subschema(member.value, of: "the schema of \"\(member.name)\"", isWhole: false)
            try check(member.name, mode: .bytes, at: member.nameLocation)
            patterns.append(SchemaNode.PatternProperty(pattern: member.name, node: schema))
        }
    }

    private func readDependencies(
        _ json: LocatedBSON, into node: inout SchemaNode, isWhole: Bool
    ) throws(SchemaError) {
        guard let members = json.members else { throw json.wrong(.dependencies, "an object") }
        var dependencies: [Constraints.Dependency] = []
        defer { node.constraints.dependencies = dependencies }
        for member in members {
            let demand: Constraints.Dependency.Demand
            switch member.value.value {
            case .object: demand = .schema(try self.node(member.value, isWhole: isWhole))
            case .array: demand = .fields(try names(member.value, of: "the dependency of \"\(member.name)\""))
            // If a dependency named `title` or `description` has a string as its value, mongod takes it as an
            // annotation, which restricts nothing.
            case .scalar(.string) where member.name == "title" || member.name == "description": continue
            case .scalar:
                throw SchemaError(
                    .wrongValue, at: member.value.location,
                    "the dependency of \"\(member.name)\" must be a schema or a list of field names, "
                        + "not \(member.value.kind)")
            }
            dependencies.append(Constraints.Dependency(field: member.name, demand: demand))
        }
    }
}

/// Reads the keywords that apply to arrays.
extension JSONSchemaReader {
    func readArrays(_ keywords: KeywordTable, into node: inout SchemaNode) throws(SchemaError) {
        if let range = try counts(keywords, .minItems, .maxItems) { node.constraints.itemCount = range }
        if let json = keywords[.uniqueItems] { node.uniqueItems = try json.flag(of: .uniqueItems) }
        if let json = keywords[.items] { node.items = try items(json) }
        guard let json = keywords[.additionalItems] else { return }
        node.constraints.additionalItems = try flagOrSchema(json, of: .additionalItems)
    }

    func items(_ json: LocatedBSON) throws(SchemaError) -> SchemaNode.Items {
        if let elements = json.elements {
            var nodes: [SchemaNode] = []
            for element in elements { nodes.append(try subschema(element, of: "an entry of items", isWhole: false)) }
            return .tuple(nodes)
        }
        guard json.members != nil else { throw json.wrong(.items, "a schema or a list of schemas") }
        return .each(try node(json, isWhole: false))
    }

    func flagOrSchema(
        _ json: LocatedBSON, of keyword: Keyword
    ) throws(SchemaError) -> SchemaNode.AdditionalProperties {
        if case .scalar(.bool(let isAllowed)) = json.value { return isAllowed ? .allowed : .forbidden }
        guard json.members != nil else { throw json.wrong(keyword, "a boolean or a schema") }
        return .schema(try node(json, isWhole: false))
    }
}

/// Reads the keywords that apply to strings and numbers.
extension JSONSchemaReader {
    func readScalars(_ keywords: KeywordTable, into node: inout SchemaNode, isWhole: Bool) throws(SchemaError) {
        if let json = keywords[.pattern] {
            let pattern = try json.text(of: .pattern)
            if !isWhole { try check(pattern, mode: .characters, at: json.location) }
            node.constraints.pattern = pattern
        }
        if let range = try counts(keywords, .minLength, .maxLength) { node.constraints.length = range }
        if let json = keywords[.multipleOf] { node.constraints.multipleOf = try divisor(json, isWhole: isWhole) }
        if let bound = try bound(keywords, .minimum, .exclusiveMinimum) { node.constraints.minimum = bound }
        if let bound = try bound(keywords, .maximum, .exclusiveMaximum) { node.constraints.maximum = bound }
    }

    private func counts(
        _ keywords: KeywordTable, _ minimum: Keyword, _ maximum: Keyword
    ) throws(SchemaError) -> Constraints.CountRange? {
        guard keywords[minimum] != nil || keywords[maximum] != nil else { return nil }
        var range = Constraints.CountRange()
        if let json = keywords[minimum] { range.minimum = try count(json, of: minimum) }
        if let json = keywords[maximum] { range.maximum = try count(json, of: maximum) }
        return range
    }

    private func bound(
        _ keywords: KeywordTable, _ keyword: Keyword, _ exclusive: Keyword
    ) throws(SchemaError) -> Constraints.Bound? {
        guard let json = keywords[keyword] else {
            if let json = keywords[exclusive] {
                throw SchemaError(
                    .conflict, at: json.location, "\(exclusive.rawValue) needs \(keyword.rawValue) next to it",
                    remedy: "in this dialect \(exclusive.rawValue) is a boolean, and \(keyword.rawValue) the bound")
            }
            return nil
        }
        var bound = Constraints.Bound(number: try json.number(of: keyword))
        if let json = keywords[exclusive] { bound.isExclusive = try json.flag(of: exclusive) }
        return bound
    }

    func divisor(_ json: LocatedBSON, isWhole: Bool) throws(SchemaError) -> BSONValue {
        let value = try json.number(of: .multipleOf)
        let isUsable =
            switch BSONNumber(value) {
            case .integer(let number): number > 0
            case .double(let number): isWhole ? number > 0 || number.isNaN : number > 0 && number.isFinite
            case .decimal(let number):
                !number.isNegative && !number.isZero && (isWhole || number.isFinite)
            case nil: false
            }
        guard isUsable else { throw json.wrong(.multipleOf, "a number above 0") }
        return value
    }

    /// Checks that a pattern compiles.
    /// - Throws: ``SchemaError`` if it is not a valid regular expression.
    func check(_ pattern: String, mode: Pattern.Mode, at location: SourceLocation) throws(SchemaError) {
        do throws(PatternError) {
            _ = try Pattern(pattern, mode: mode)
        } catch {
            throw SchemaError(.invalidPattern, at: location, "this is not a regular expression of PCRE: \(error)")
        }
    }
}

/// Reads the keywords that combine schemas, and `enum`.
extension JSONSchemaReader {
    func readCombinations(_ keywords: KeywordTable, into node: inout SchemaNode, isWhole: Bool) throws(SchemaError) {
        for (keyword, kind) in [
            (Keyword.allOf, Constraints.Combination.Kind.allOf), (.anyOf, .anyOf), (.oneOf, .oneOf),
        ] {
            guard let json = keywords[keyword] else { continue }
            guard let elements = json.elements, !elements.isEmpty else {
                throw json.wrong(keyword, "a list of at least one schema")
            }
            var nodes: [SchemaNode] = []
            for element in elements {
                nodes.append(try subschema(element, of: "an entry of \(keyword.rawValue)", isWhole: isWhole))
            }
            node.constraints.combinations.append(Constraints.Combination(kind: kind, nodes: nodes))
        }
        if let json = keywords[.not] {
            let schema = try subschema(json, of: "not", isWhole: isWhole)
            node.constraints.combinations.append(Constraints.Combination(kind: .not, nodes: [schema]))
        }
        if let json = keywords[.enum] { node.constraints.allowedValues = try allowedValues(json) }
    }

    func allowedValues(_ json: LocatedBSON) throws(SchemaError) -> [BSONValue] {
        guard let elements = json.elements, !elements.isEmpty else {
            throw json.wrong(.enum, "a list of at least one value")
        }
        var values = DistinctValues()
        for element in elements where !values.insert(element.bson) {
            throw SchemaError(
                .duplicate, at: element.location, "enum lists the same value twice",
                remedy: "remove one: a number's type and the order of an object's fields make no difference")
        }
        return values.values
    }
}
