internal import BSON
internal import Patterns

/// The keywords of objects.
extension JSONSchemaReader {
    func readObjects(_ keywords: KeywordTable, into node: inout SchemaNode, isWhole: Bool) throws(SchemaError) {
        if let json = keywords[.required] { node.required = try names(json, of: "required") }
        if let json = keywords[.properties] {
            guard let members = json.members else { throw wrong(.properties, json, "an object of schemas") }
            node.hasProperties = true
            for member in members {
                // The schema of a property named "" judges the object around it: so mongod reads an empty path.
                var schema = SchemaNode(location: member.value.location)
                try attempt { () throws(SchemaError) in
                    schema = try subschema(
                        member.value, of: "property \"\(member.name)\"", isWhole: member.name.isEmpty)
                }
                node.properties.append(SchemaNode.Property(name: member.name, node: schema))
            }
        }
        if let json = keywords[.patternProperties] { try readPatterns(json, into: &node) }
        if let json = keywords[.additionalProperties] {
            node.hasAdditionalProperties = true
            node.additionalProperties = try flagOrSchema(json, of: .additionalProperties)
        }
        node.constraints.minProperties = try count(keywords, .minProperties)
        node.constraints.maxProperties = try count(keywords, .maxProperties)
        if let json = keywords[.dependencies] { try readDependencies(json, into: &node, isWhole: isWhole) }
    }

    func readPatterns(_ json: LocatedBSON, into node: inout SchemaNode) throws(SchemaError) {
        guard let members = json.members else { throw wrong(.patternProperties, json, "an object of schemas") }
        for member in members {
            let schema = try subschema(member.value, of: "the schema of \"\(member.name)\"", isWhole: false)
            try check(member.name, mode: .bytes, at: member.nameLocation)
            node.constraints.patternProperties.append(
                SchemaNode.PatternProperty(pattern: member.name, node: schema))
        }
    }

    func readDependencies(
        _ json: LocatedBSON, into node: inout SchemaNode, isWhole: Bool
    ) throws(SchemaError) {
        guard let members = json.members else { throw wrong(.dependencies, json, "an object") }
        for member in members {
            let demand: Constraints.Dependency.Demand
            switch member.value.value {
            case .object: demand = .schema(try self.node(member.value, isWhole: isWhole))
            case .array: demand = .fields(try names(member.value, of: "the dependency of \"\(member.name)\""))
            // mongod takes these two for annotations, which say nothing.
            case .scalar(.string) where member.name == "title" || member.name == "description": continue
            case .scalar:
                throw SchemaError(
                    .wrongValue, at: member.value.location,
                    "the dependency of \"\(member.name)\" must be a schema or a list of field names, "
                        + "not \(member.value.kind)")
            }
            node.constraints.dependencies.append(Constraints.Dependency(field: member.name, demand: demand))
        }
    }
}
