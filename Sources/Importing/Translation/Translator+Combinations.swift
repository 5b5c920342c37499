import BSON
import ServerSchema

/// Translates the keywords that combine schemas.
extension Translator {
    mutating func translateCombinations(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        if let branches = try keywords.branches("allOf") {
            let all = try translated(branches, at: place).schemas.filter { !$0.isUnrestricted }
            if all.count == 1 { schema.absorb(all[0]) } else { schema.parts += all }
        }
        if let branches = try keywords.branches("anyOf") {
            schema.absorb(.union(try translated(branches, at: place).schemas))
        }
        if let branches = try keywords.branches("oneOf") {
            schema.absorb(try exclusive(branches, at: place))
        }
        if let json = keywords["not"] {
            let (negated, isExact) = try exactly(json, at: place)
            if isExact { schema.absorb(.not(negated)) } else { loseWhole("not", "it", json, at: place) }
        }
        try translateCondition(keywords, into: &schema, at: place)
    }

    private mutating func translated(
        _ branches: [LocatedJSON], at place: Place
    ) throws(SchemaError) -> (schemas: [ValidatorSchema], areExact: Bool) {
        let before = losses
        var schemas: [ValidatorSchema] = []
        for json in branches { schemas.append(try schema(json, at: place)) }
        return (schemas, losses == before)
    }

    /// Translates `oneOf`; as `anyOf` if no value can fit two branches, or if a branch accepts more than its source.
    private mutating func exclusive(
        _ branches: [LocatedJSON], at place: Place
    ) throws(SchemaError) -> ValidatorSchema {
        let (schemas, areExact) = try translated(branches, at: place)
        if ValidatorSchema.areDisjoint(schemas) { return .union(schemas) }
        if areExact { return ValidatorSchema("oneOf", .array(of: schemas.map(\.value))) }
        lose(
            .leftOut, .approximated, place.path, branches[0].location,
            "oneOf is checked as anyOf: a part of a branch has no counterpart, so a value could fit two branches")
        return .union(schemas)
    }

    /// Translates `if`, `then` and `else`.
    private mutating func translateCondition(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        guard let json = keywords["if"], keywords.hasAny(of: "then", "else") else { return }
        let (condition, isExact) = try exactly(json, at: place)
        if let json = keywords["then"] {
            let consequence = try self.schema(json, at: place)
            if isExact {
                schema.absorb(.union([.not(condition), consequence]))
            } else {
                loseWhole("then", "its if", json, at: place)
            }
        }
        if let json = keywords["else"] { schema.absorb(.union([condition, try self.schema(json, at: place)])) }
    }

    private mutating func loseWhole(_ keyword: String, _ whole: String, _ json: LocatedJSON, at place: Place) {
        lose(
            .warning, .approximated, place.path, json.location,
            "\(keyword) is left out: a part of \(whole) has no counterpart, so the rest would refuse too much")
    }

    /// Adds null to a schema with `nullable: true`, the keyword of OpenAPI 3.0.
    mutating func nullable(
        _ schema: ValidatorSchema, _ keywords: KeywordValues, at place: Place
    ) -> ValidatorSchema {
        guard !schema.isUnrestricted, schema.types?.contains(.null) != true, let json = keywords["nullable"] else {
            return schema
        }
        if keywords["type"] == nil || schema.values?.contains(where: { $0.type == .null }) == false {
            note(.decision, .nullAllowed, place.path, json.location, "nullable allows null here, too")
        }
        var bare = schema
        (bare.title, bare.description) = (nil, nil)
        var result = ValidatorSchema.union([bare, ValidatorSchema(types: [.null])])
        (result.title, result.description) = (schema.title, schema.description)
        return result
    }
}
