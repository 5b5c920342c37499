internal import BSON

/// The keywords of arrays.
extension JSONSchemaReader {
    func readArrays(_ keywords: KeywordTable, into node: inout SchemaNode) throws(SchemaError) {
        node.constraints.minItems = try count(keywords, .minItems)
        node.constraints.maxItems = try count(keywords, .maxItems)
        if let json = keywords[.uniqueItems] { node.uniqueItems = try flag(json, of: .uniqueItems) }
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
        guard json.members != nil else { throw wrong(.items, json, "a schema or a list of schemas") }
        return .each(try node(json, isWhole: false))
    }

    func flagOrSchema(
        _ json: LocatedBSON, of keyword: Keyword
    ) throws(SchemaError) -> SchemaNode.AdditionalProperties {
        if case .scalar(.bool(let isAllowed)) = json.value { return isAllowed ? .allowed : .forbidden }
        guard json.members != nil else { throw wrong(keyword, json, "a boolean or a schema") }
        return .schema(try node(json, isWhole: false))
    }
}
