import BSON
package import ServerSchema

/// Converts an App Services schema to a `jsonschema` schema that has only the constraints, and no rules for types and
/// fields.
extension SchemaNode {
    /// A schema with only the constraints of this schema and of the schemas inside it; `nil` if there are none.
    var constraintsAlone: SchemaNode? {
        var node = SchemaNode(location: location)
        node.constraints = constraints.inJSONSchema
        let isAboutNames = !constraints.patternProperties.isEmpty
        // A field whose name is empty or contains a dot is left out. The `jsonschema` dialect reads an empty name as
        // the object itself, and a dot as the separator of a path.
        var children = properties.filter { !$0.name.isEmpty && !$0.name.contains(".") }.map {
            (name: $0.name, node: $0.node.constraintsAlone)
        }
        if case .schema(let value) = additionalProperties, let alone = value.constraintsAlone {
            node.additionalProperties = .schema(alone)
            node.hasAdditionalProperties = true
        } else if isAboutNames {
            node.additionalProperties = additionalProperties.inJSONSchema
            node.hasAdditionalProperties = hasAdditionalProperties
        }
        // If `additionalProperties` is kept, the properties without constraints are kept as well. Otherwise
        // `additionalProperties` would apply to their fields.
        if !node.hasAdditionalProperties { children.removeAll { $0.node == nil } }
        node.properties = children.map { Property(name: $0.name, node: $0.node ?? SchemaNode(location: location)) }
        node.items = itemConstraints
        let isEmpty =
            node.constraints.keywords.isEmpty && node.properties.isEmpty && node.items == nil
            && !node.hasAdditionalProperties
        return isEmpty ? nil : node
    }

    private var itemConstraints: Items? {
        switch items {
        case nil: return nil
        case .each(let element): return element.constraintsAlone.map { .each($0) }
        case .tuple(let elements):
            let alone = elements.map(\.constraintsAlone)
            guard constraints.additionalItems != nil || alone.contains(where: { $0 != nil }) else { return nil }
            return .tuple(alone.map { $0 ?? SchemaNode(location: location) })
        }
    }

    /// This schema, converted to the `jsonschema` dialect for use inside a constraint such as `anyOf`.
    fileprivate var inJSONSchema: SchemaNode {
        var node = self
        // A mixed value may be of any type. The `jsonschema` dialect has no type for a UUID, which is binary data.
        node.types = types.contains(.mixed) ? [] : types.map { $0 == .uuid ? .binData : $0 }
        node.types = node.types.enumerated().filter { node.types.firstIndex(of: $1) == $0 }.map(\.element)
        node.constraints = constraints.inJSONSchema
        node.properties = properties.map { Property(name: $0.name, node: $0.node.inJSONSchema) }
        node.additionalProperties = additionalProperties.inJSONSchema
        switch items {
        case nil: break
        case .each(let element): node.items = .each(element.inJSONSchema)
        case .tuple(let elements): node.items = .tuple(elements.map(\.inJSONSchema))
        }
        return node
    }
}

extension SchemaNode.AdditionalProperties {
    fileprivate var inJSONSchema: Self {
        if case .schema(let node) = self { .schema(node.inJSONSchema) } else { self }
    }
}

extension Constraints {
    /// The constraints, changed where MongoDB would refuse them in a `$jsonSchema`.
    fileprivate var inJSONSchema: Constraints {
        var result = self
        if minimum.number == nil { result.minimum.isExclusive = false }
        if maximum.number == nil { result.maximum.isExclusive = false }
        result.allowedValues = allowedValues.map(Self.distinct)
        result.additionalItems = additionalItems?.inJSONSchema
        for index in patternProperties.indices {
            result.patternProperties[index].node = patternProperties[index].node.inJSONSchema
        }
        for index in dependencies.indices {
            guard case .schema(let node) = dependencies[index].demand else { continue }
            result.dependencies[index].demand = .schema(node.inJSONSchema)
        }
        result.dependencies.removeAll { if case .fields(let names) = $0.demand { names.isEmpty } else { false } }
        for index in combinations.indices {
            result.combinations[index].nodes = combinations[index].nodes.map(\.inJSONSchema)
        }
        return result
    }

    private static func distinct(_ values: [BSONValue]) -> [BSONValue] {
        values.reduce(into: DistinctValues()) { _ = $0.insert($1) }.values
    }
}

extension SchemaNode {
    /// Whether the schema describes a point.
    ///
    /// A point has a required string `type`, an array `coordinates` of doubles, and no other field.
    package var isGeoPoint: Bool {
        guard types == [.object], properties.count == 2, required.contains("type"),
            let type = properties.first(where: { $0.name == "type" })?.node, type.types == [.string],
            let coordinates = properties.first(where: { $0.name == "coordinates" })?.node,
            coordinates.types == [.array], case .each(let element) = coordinates.items
        else { return false }
        return element.types == [.double]
    }
}
