public import BSON

/// A schema of `oneOf` or `anyOf` that a value selects, by its type or by the values of fields.
public struct SchemaBranch: Hashable, Sendable {
    /// The path of the values that the keyword judges.
    public let path: SchemaPath
    /// The keyword: `oneOf` or `anyOf`.
    public let kind: Constraints.Combination.Kind
    /// The position of the schema in the keyword's list.
    public let index: Int
    /// The fields of the object that select the schema, with their values; empty if its type selects it.
    public let selectors: BSONDocument

    /// Creates a branch.
    public init(path: SchemaPath, kind: Constraints.Combination.Kind, index: Int, selectors: BSONDocument) {
        (self.path, self.kind, self.index, self.selectors) = (path, kind, index, selectors)
    }

    /// The paths of ``selectors`` in the document, with their values.
    package var conditions: [(path: SchemaPath, value: BSONValue)] {
        ((try? selectors.elements()) ?? []).map { (path.appending(.field($0.name)), $0.value) }
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
            take(types: schemas.flatMap(\.types))
        }
        required += first.required.filter { name in !requires(name) && schemas.allSatisfy { $0.requires(name) } }
        hasProperties = hasProperties || schemas.contains(where: \.hasProperties)
        for property in schemas.flatMap(\.properties) {
            guard let index = properties.firstIndex(where: { $0.name == property.name }) else {
                properties.append(property)
                continue
            }
            var known = properties[index].node
            known.take(types: property.node.types)
            let values = property.node.constraints.allowedValues
            if schemas.count == 1, known.constraints.allowedValues == nil { known.constraints.allowedValues = values }
            properties[index].node = known
        }
        items = items ?? schemas.compactMap(\.items).first
        if !hasAdditionalProperties, schemas.allSatisfy(\.hasAdditionalProperties) {
            (hasAdditionalProperties, additionalProperties) = (true, first.additionalProperties)
        }
        guard schemas.count == 1 else { return }
        let own = constraints
        (constraints, uniqueItems) = (first.constraints, uniqueItems || first.uniqueItems)
        constraints.combinations += own.combinations
        if isNullable { constraints.allowedValues?.append(.null) }
        constraints.allowedValues = own.allowedValues ?? constraints.allowedValues
    }

    private mutating func take(types others: [SchemaType]) {
        for type in others where !types.contains(type) { types.append(type) }
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
