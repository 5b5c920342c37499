/// A keyword that an App Services schema may hold.
///
/// Source: `semantics.md` section 3 of the project's reference.
enum Keyword: String, CaseIterable {
    // What the model holds.
    case title, description, bsonType, type, required, properties, items, uniqueItems, additionalProperties
    case `default`
    // What no rule evaluates yet.
    case minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, pattern
    case `enum`, minItems, maxItems, additionalItems, minProperties, maxProperties, dependencies, patternProperties
    case allOf, anyOf, oneOf, not, validate, format
    // What no App Services documentation describes.
    case const, contains, propertyNames, `if`, then, `else`, encrypt, encryptMetadata, definitions, id
    case ref = "$ref"
    case schema = "$schema"

    /// Whether App Services documents it.
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
    /// Whether MongoDB's `$jsonSchema` has it.
    var isOfJSONSchema: Bool {
        switch self {
        case .default, .validate, .format, .const, .contains, .propertyNames, .if, .then, .else, .definitions, .id,
            .ref,
            .schema:
            false
        default: true
        }
    }
}

extension Keyword {
    /// The kind of value that a keyword asks for, in the words of a message.
    enum Kind: String {
        case number = "a number"
        case size = "a number from 0 on"
        case boolean = "a boolean"
        case string = "a string"
        case array = "an array"
        case object = "an object"
        case booleanOrObject = "a boolean or an object"
        case anything

        func admits(_ json: LocatedJSON) -> Bool {
            switch (self, json.value) {
            case (.number, .number), (.boolean, .bool), (.string, .string), (.array, .array), (.object, .object),
                (.booleanOrObject, .bool), (.booleanOrObject, .object), (.anything, _):
                true
            case (.size, .number(let text)): !text.hasPrefix("-")
            default: false
            }
        }
    }

    /// What a keyword that no rule evaluates yet asks for.
    var kind: Kind {
        switch self {
        case .minimum, .maximum, .multipleOf: .number
        case .minLength, .maxLength, .minItems, .maxItems, .minProperties, .maxProperties: .size
        case .exclusiveMinimum, .exclusiveMaximum: .boolean
        case .pattern, .format: .string
        case .enum, .allOf, .anyOf, .oneOf: .array
        case .dependencies, .patternProperties, .not: .object
        case .additionalItems: .booleanOrObject
        default: .anything
        }
    }
}
