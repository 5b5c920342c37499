public import BSON

extension SchemaNode {
    /// The schema as the value of MongoDB's `$jsonSchema`, without titles and descriptions.
    ///
    /// The result is valid only for a schema that was read in MongoDB's dialect.
    public var jsonSchema: BSONDocument {
        var keywords: [(String, BSONValue)] = []
        if constraints.encryption == nil, !types.isEmpty {
            let names = types.map { BSONValue.string($0.rawValue) }
            keywords.append(("bsonType", names.count == 1 ? names[0] : .array(of: names)))
        }
        if !required.isEmpty { keywords.append(("required", .array(of: required.map { .string($0) }))) }
        if !properties.isEmpty {
            keywords.append(("properties", .object(BSONDocument(properties.map { ($0.name, $0.node.asValue) }))))
        }
        if hasAdditionalProperties { keywords.append(("additionalProperties", additionalProperties.asValue)) }
        switch items {
        case nil: break
        case .each(let node)?: keywords.append(("items", node.asValue))
        case .tuple(let nodes)?: keywords.append(("items", .array(of: nodes.map(\.asValue))))
        }
        if uniqueItems { keywords.append(("uniqueItems", true)) }
        return BSONDocument(keywords + constraints.asKeywords)
    }

    fileprivate var asValue: BSONValue { .object(jsonSchema) }
}

extension SchemaNode.AdditionalProperties {
    fileprivate var asValue: BSONValue {
        switch self {
        case .allowed: true
        case .forbidden: false
        case .schema(let node): .object(node.jsonSchema)
        }
    }
}

extension Constraints {
    fileprivate var asKeywords: [(String, BSONValue)] { ofScalars + ofCollections + combined }

    private var ofScalars: [(String, BSONValue)] {
        var result: [(String, BSONValue)] = []
        if let number = minimum.number { result.append(("minimum", number)) }
        if minimum.isExclusive { result.append(("exclusiveMinimum", true)) }
        if let number = maximum.number { result.append(("maximum", number)) }
        if maximum.isExclusive { result.append(("exclusiveMaximum", true)) }
        if let multipleOf { result.append(("multipleOf", multipleOf)) }
        result += length.keywords("minLength", "maxLength")
        if let pattern { result.append(("pattern", .string(pattern))) }
        if let allowedValues { result.append(("enum", .array(of: allowedValues))) }
        return result
    }

    private var ofCollections: [(String, BSONValue)] {
        var result = itemCount.keywords("minItems", "maxItems")
        if let additionalItems { result.append(("additionalItems", additionalItems.asValue)) }
        result += propertyCount.keywords("minProperties", "maxProperties")
        if !patternProperties.isEmpty {
            let members = patternProperties.map { ($0.pattern, $0.node.asValue) }
            result.append(("patternProperties", .object(BSONDocument(members))))
        }
        if !dependencies.isEmpty {
            result.append(("dependencies", .object(BSONDocument(dependencies.map { ($0.field, $0.demand.asValue) }))))
        }
        return result
    }

    private var combined: [(String, BSONValue)] {
        var result = combinations.compactMap { combination -> (String, BSONValue)? in
            let nodes = combination.nodes.map(\.asValue)
            if combination.kind == .not { return nodes.first.map { (combination.kind.rawValue, $0) } }
            return (combination.kind.rawValue, .array(of: nodes))
        }
        if let encryption {
            let types = encryption.types.map { $0.map { BSONValue.string($0.rawValue) } }
            result.append(("encrypt", types.map { ["bsonType": .array(of: $0)] } ?? [:]))
        }
        return result
    }
}

extension Constraints.CountRange {
    /// Returns the minimum and the maximum as keywords with the names `least` and `most`, without those that are not
    /// set.
    fileprivate func keywords(_ least: String, _ most: String) -> [(String, BSONValue)] {
        [(least, minimum), (most, maximum)].compactMap { name, count in count.map { (name, .long($0)) } }
    }
}

extension Constraints.Dependency.Demand {
    fileprivate var asValue: BSONValue {
        switch self {
        case .fields(let names): .array(of: names.map { .string($0) })
        case .schema(let node): .object(node.jsonSchema)
        }
    }
}
