import ServerSchema

extension SchemaNode {
    static let nowhere = SourceLocation(file: "schema.json", line: 1, column: 1)

    /// A value of these types.
    static func of(_ types: SchemaType...) -> SchemaNode {
        var node = SchemaNode(location: nowhere)
        node.types = types
        return node
    }

    /// An object of these fields, which takes further ones unless it says otherwise.
    static func object(
        _ properties: KeyValuePairs<String, SchemaNode>, required: [String] = [],
        further: AdditionalProperties = .allowed
    ) -> SchemaNode {
        var node = of(.object)
        node.hasProperties = true
        node.properties = properties.map { Property(name: $0.key, node: $0.value) }
        node.required = required
        node.additionalProperties = further
        return node
    }
}
