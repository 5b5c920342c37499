import BSON
import ServerSchema

/// Translates the keywords of arrays.
extension Translator {
    mutating func translateArrays(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        // A document as a whole is no array.
        guard !place.isWhole else { return }
        if let count = try keywords.count("minItems"), count > 0 { schema.keywords["minItems"] = .integer(count) }
        if let count = try keywords.count("maxItems") { schema.keywords["maxItems"] = .integer(count) }
        if try keywords.flag("uniqueItems") == true { schema.keywords["uniqueItems"] = true }
        try translateElements(keywords, into: &schema, at: place)
        try translateContains(keywords, into: &schema, at: place)
    }

    /// Translates the schemas of elements: of the first ones by position, and of the others.
    private mutating func translateElements(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        let inside = place.inside(.elements)
        let isOldTuple = keywords["items"]?.elements != nil
        let first = (isOldTuple ? keywords["items"] : keywords["prefixItems"])?.elements ?? []
        if let json = keywords["prefixItems"], json.elements == nil {
            throw KeywordValues.wrong("prefixItems", json, "a list of schemas")
        }
        var positions: [ValidatorSchema] = []
        for json in first { positions.append(try self.schema(json, at: inside)) }
        if !positions.isEmpty { schema.keywords["items"] = .array(of: positions.map(\.value)) }
        guard let json = try rest(keywords, isOldTuple: isOldTuple, at: place) else { return }
        let others = try self.schema(json, at: inside)
        guard !others.isUnrestricted else { return }
        if !positions.isEmpty {
            schema.keywords["additionalItems"] = others.isNever ? false : others.value
        } else if others.isNever {
            schema.absorb(ValidatorSchema("maxItems", 0))
        } else {
            schema.keywords["items"] = others.value
        }
    }

    /// Returns the schema of the elements after those that are described by position; `nil` if there is none.
    private mutating func rest(
        _ keywords: KeywordValues, isOldTuple: Bool, at place: Place
    ) throws(SchemaError) -> LocatedJSON? {
        let stated = isOldTuple ? keywords["additionalItems"] : keywords["items"]
        guard stated == nil, let json = keywords["unevaluatedItems"] else { return stated }
        guard !keywords.hasAny(of: "allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef", "contains") else {
            lose(
                .leftOut, .keywordLeftOut, place.path, json.location,
                "unevaluatedItems is left out: other schemas apply to the same array")
            return nil
        }
        return json
    }

    /// Translates `contains`: not all elements fail its schema.
    private mutating func translateContains(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        guard let json = keywords["contains"] else { return }
        let (element, isExact) = try exactly(json, at: place.inside(.elements))
        let noElement = ValidatorSchema("items", ValidatorSchema.not(element).value)
        let least = try keywords.count("minContains") ?? 1
        if least > 0 {
            let isNoArray = ValidatorSchema.not(ValidatorSchema(types: [.array]))
            let isFound = ValidatorSchema.not(noElement)
            schema.absorb(schema.types == [.array] ? isFound : .union([isNoArray, isFound]))
        }
        if least > 1, let json = keywords["minContains"] {
            lose(
                .leftOut, .keywordLeftOut, place.path, json.location,
                "minContains is weaker: one such element is enough")
        }
        guard let most = try keywords.count("maxContains"), let json = keywords["maxContains"] else { return }
        if most == 0, isExact { return schema.absorb(noElement) }
        lose(.leftOut, .keywordLeftOut, place.path, json.location, "maxContains is left out")
    }
}
