/// A keyword of schemas, in the dialect of App Services or of MongoDB.
///
/// Source: `semantics.md` section 3 of the project's reference.
enum Keyword: String, CaseIterable {
    // Keywords for titles, descriptions and types, and for the fields or elements of a value.
    case title, description, bsonType, type, required, properties, items, uniqueItems, additionalProperties
    case `default`
    // Keywords that restrict a value by more than its type.
    case minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, pattern
    case `enum`, minItems, maxItems, additionalItems, minProperties, maxProperties, dependencies, patternProperties
    case allOf, anyOf, oneOf, not
    // Keywords that no rule evaluates; of these, the documentation of App Services describes only `validate`.
    case validate, format
    // Keywords that no App Services documentation describes.
    case const, contains, propertyNames, `if`, then, `else`, encrypt, encryptMetadata, definitions, id
    case ref = "$ref"
    case schema = "$schema"

    /// Keywords of later drafts of JSON Schema.
    ///
    /// Other tools write these keywords, so they do not count as misspelt.
    static let ofOtherTools: Set = [
        "$anchor", "$comment", "$defs", "$dynamicAnchor", "$dynamicRef", "$id", "$vocabulary", "contentEncoding",
        "contentMediaType", "contentSchema", "dependentRequired", "dependentSchemas", "deprecated", "examples",
        "maxContains", "minContains", "prefixItems", "readOnly", "unevaluatedItems", "unevaluatedProperties",
        "writeOnly",
    ]

    /// Whether App Services documents the keyword.
    var isDocumented: Bool {
        switch self {
        case .const, .contains, .propertyNames, .if, .then, .else, .encrypt, .encryptMetadata, .definitions, .id, .ref,
            .schema, .allOf, .anyOf, .oneOf, .not, .format:
            false
        default: true
        }
    }
}

extension Keyword {
    /// Whether MongoDB's `$jsonSchema` has the keyword.
    var isOfJSONSchema: Bool {
        switch self {
        case .default, .validate, .format, .const, .contains, .propertyNames, .if, .then, .else, .definitions, .id,
            .ref, .schema:
            false
        default: true
        }
    }
}
