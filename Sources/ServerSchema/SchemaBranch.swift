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
        var node = mapped { $0.unfolded(branches, at: path.appending($1)) }
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

    /// Returns the schema with another schema for each field, for the elements, and for further fields.
    func mapped(_ change: (SchemaNode, SchemaPath.Step) -> SchemaNode) -> SchemaNode {
        var node = self
        for (index, property) in properties.enumerated() {
            node.properties[index].node = change(property.node, .field(property.name))
        }
        if case .each(let element) = items { node.items = .each(change(element, .elements)) }
        if case .schema(let value) = additionalProperties {
            node.additionalProperties = .schema(change(value, .values))
        }
        return node
    }

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
            properties[index].node.take(types: property.node.types)
            guard schemas.count == 1, properties[index].node.constraints.allowedValues == nil else { continue }
            properties[index].node.constraints.allowedValues = property.node.constraints.allowedValues
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
    /// The schema with the schemas of `oneOf` and `anyOf` written into it; see ``SchemaNode/unfolded(_:at:)``.
    package var described: CollectionSchema {
        var schema = self
        if dialect == .jsonSchema { schema.root = root.unfolded() }
        return schema
    }
}

extension ServerSchema {
    /// The schemas of the collections, each as ``CollectionSchema/described`` gives it.
    package var described: ServerSchema {
        var schema = self
        schema.collections = collections.map(\.described)
        return schema
    }
}
