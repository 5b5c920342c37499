public import BSON

/// A schema of `oneOf` or `anyOf` that a value selects, by its type or by the value of a field.
public struct SchemaBranch: Hashable, Sendable {
    /// The path of the values that the keyword judges.
    public var path: SchemaPath
    /// The keyword: `oneOf` or `anyOf`.
    public var kind: Constraints.Combination.Kind
    /// The position of the schema in the keyword's list.
    public var index: Int
    /// The fields of the value that select the schema, with their values; empty if the value's type selects it.
    public var conditions: [Condition]

    /// A field whose value selects a schema.
    public struct Condition: Hashable, Sendable {
        /// The name of the field in the object that is judged.
        public var field: String
        /// The only value that the schema allows for the field.
        public var value: BSONValue

        /// Creates a condition.
        public init(field: String, value: BSONValue) { (self.field, self.value) = (field, value) }
    }

    /// Creates a branch.
    public init(path: SchemaPath, kind: Constraints.Combination.Kind, index: Int, conditions: [Condition]) {
        (self.path, self.kind, self.index, self.conditions) = (path, kind, index, conditions)
    }
}

extension SchemaNode {
    /// Returns the schema with the schemas of `oneOf` and `anyOf` written into it.
    ///
    /// It is for readers that need only the names, types and limits of fields.
    ///
    /// A schema that only allows null makes the value nullable. If several schemas are left, the result allows what any
    /// of them allows. It is never for a verdict: only ``Constraints/combinations`` have the exact rules.
    /// - Parameter branches: The schemas that a value selects; the others of the same keyword are left out.
    package func unfolded(_ branches: [SchemaBranch] = [], at path: SchemaPath = SchemaPath()) -> SchemaNode {
        var node = self
        if !properties.isEmpty {
            node.properties = properties.map { property in
                var property = property
                property.node = property.node.unfolded(branches, at: path.appending(.field(property.name)))
                return property
            }
        }
        if case .each(let element) = items {
            node.items = .each(element.unfolded(branches, at: path.appending(.elements)))
        }
        if case .schema(let value) = additionalProperties {
            node.additionalProperties = .schema(value.unfolded(branches, at: path.appending(.values)))
        }
        guard !constraints.combinations.isEmpty else { return node }
        for combination in constraints.combinations where [.oneOf, .anyOf].contains(combination.kind) {
            let chosen = branches.first { $0.path == path && $0.kind == combination.kind }?.index
            let others = combination.nodes.filter { $0.types != [.null] }
            let kept = chosen.map { [combination.nodes[$0]] } ?? others
            let isNullable = others.count < combination.nodes.count
            node.take(kept.map { $0.unfolded(branches, at: path) }, isNullable: isNullable)
            node.constraints.combinations.removeAll { $0.kind == combination.kind }
        }
        return node
    }

    /// Takes over the keywords of the schemas in an `anyOf` or `oneOf` of this schema.
    private mutating func take(_ schemas: [SchemaNode], isNullable: Bool) {
        guard let first = schemas.first else { return }
        if types.isEmpty, schemas.allSatisfy({ !$0.types.isEmpty }) {
            types = isNullable ? [.null] : []
            for type in schemas.flatMap(\.types) where !types.contains(type) { types.append(type) }
        }
        for name in first.required where schemas.allSatisfy({ $0.requires(name) }) && !requires(name) {
            required.append(name)
        }
        hasProperties = hasProperties || schemas.contains(where: \.hasProperties)
        for property in schemas.flatMap(\.properties) { take(property, isOnly: schemas.count == 1) }
        items = items ?? schemas.compactMap(\.items).first
        uniqueItems = uniqueItems || schemas.allSatisfy(\.uniqueItems)
        if !hasAdditionalProperties, schemas.allSatisfy(\.hasAdditionalProperties) {
            (hasAdditionalProperties, additionalProperties) = (true, first.additionalProperties)
            for schema in schemas { if case .allowed = schema.additionalProperties { additionalProperties = .allowed } }
        }
        guard schemas.count == 1 else { return }
        let (own, theirs) = (constraints, first.constraints)
        constraints = theirs
        constraints.combinations = own.combinations + theirs.combinations
        constraints.allowedValues = own.allowedValues ?? theirs.allowedValues.map { isNullable ? $0 + [.null] : $0 }
    }

    private mutating func take(_ property: Property, isOnly: Bool) {
        guard let index = properties.firstIndex(where: { $0.name == property.name }) else {
            properties.append(property)
            return
        }
        var known = properties[index].node
        if known.types.isEmpty { known.types = property.node.types }
        if isOnly {
            known.constraints.allowedValues = known.constraints.allowedValues ?? property.node.constraints.allowedValues
        } else if !property.node.types.isEmpty {
            for type in property.node.types where !known.types.contains(type) { known.types.append(type) }
        }
        properties[index].node = known
    }
}

extension CollectionSchema {
    /// The schema of the documents with the schemas of `oneOf` and `anyOf` written into it, for readers that need only
    /// the names, types and limits of fields; see ``SchemaNode/unfolded(_:at:)``.
    package var described: SchemaNode { dialect == .jsonSchema ? root.unfolded() : root }
}

extension ServerSchema {
    /// The schemas of the collections, each as ``CollectionSchema/described`` gives it.
    package var described: ServerSchema {
        var schema = self
        for index in schema.collections.indices { schema.collections[index].root = collections[index].described }
        return schema
    }
}
