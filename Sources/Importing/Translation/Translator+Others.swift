import ServerSchema

/// Notes the keywords that are not translated.
extension Translator {
    mutating func noteOthers(_ keywords: KeywordValues, at place: Place) throws(SchemaError) {
        for member in keywords.members {
            let (name, location) = (member.name, member.nameLocation)
            if Self.translated.contains(name) || Self.structural.contains(name) { continue }
            if Self.annotations.contains(name) || name.hasPrefix("x-") {
                note(.leftOut, .annotationLeftOut, place.path, location, "\(name) is left out: it restricts nothing")
            } else if Self.untranslatable.contains(name) {
                lose(.warning, .keywordLeftOut, place.path, location, "\(name) is left out")
            } else {
                let hint = Spelling.hint(for: name, among: Self.translated.sorted()).map { " (\($0))" } ?? ""
                note(
                    .warning, .unknownKeyword, place.path, location,
                    "\(name) is left out: JSON Schema has no such keyword\(hint)")
            }
        }
    }

    /// The keywords that other files of this folder translate.
    private static let translated: Set = [
        "title", "description", "type", "bsonType", "format", "pattern", "minLength", "maxLength", "enum", "const",
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "properties", "patternProperties",
        "additionalProperties", "required", "propertyNames", "minProperties", "maxProperties", "dependencies",
        "dependentRequired", "dependentSchemas", "unevaluatedProperties", "items", "prefixItems", "additionalItems",
        "unevaluatedItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems", "allOf",
        "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "nullable",
    ]
    /// The keywords that identify or contain schemas.
    private static let structural: Set = [
        "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment", "$defs",
        "definitions", "components", "schemas",
    ]
    /// The keywords that describe values, and restrict none.
    private static let annotations: Set = [
        "default", "examples", "example", "readOnly", "writeOnly", "deprecated", "contentEncoding", "contentMediaType",
        "contentSchema", "discriminator", "xml", "externalDocs",
    ]
    /// The keywords that restrict values in a way that a validator cannot.
    private static let untranslatable: Set = ["$dynamicRef", "$recursiveRef"]
}
