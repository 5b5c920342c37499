internal import BSON

/// The keywords that combine schemas, and `enum`.
extension JSONSchemaReader {
    func readCombinations(_ keywords: KeywordTable, into node: inout SchemaNode, isWhole: Bool) throws(SchemaError) {
        for (keyword, kind) in [
            (Keyword.allOf, Constraints.Combination.Kind.allOf), (.anyOf, .anyOf), (.oneOf, .oneOf),
        ] {
            guard let json = keywords[keyword] else { continue }
            guard let elements = json.elements, !elements.isEmpty else {
                throw wrong(keyword, json, "a list of at least one schema")
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
            throw wrong(.enum, json, "a list of at least one value")
        }
        var values = DistinctValues()
        for element in elements where !values.insert(element.bson) {
            throw SchemaError(
                .duplicate, at: element.location, "enum lists the same value twice",
                remedy: "remove one: numbers are the same whatever their type, objects whatever their order")
        }
        return values.values
    }
}
