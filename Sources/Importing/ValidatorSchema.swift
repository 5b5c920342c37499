import BSON
import ServerSchema

/// A schema in MongoDB's own dialect, in a form to which further restrictions can be added.
struct ValidatorSchema {
    var title: String?
    var description: String?
    /// The types that the value may have; `nil` for any type.
    var types: [SchemaType]?
    /// The values that are allowed; `nil` for any value.
    var values: [BSONValue]?
    /// The values of the keywords that have no property of their own, by keyword.
    var keywords: [String: BSONValue] = [:]
    /// Other schemas, all of which the value must fit in addition to this schema's own keywords; they are written as
    /// `allOf`.
    var parts: [ValidatorSchema] = []

    /// Creates a schema that every value fits.
    init() {}

    init(types: [SchemaType]) { self.types = types }

    init(_ keyword: String, _ value: BSONValue) { keywords[keyword] = value }

    /// The schema that no value fits.
    static let never = ValidatorSchema("not", [:])

    /// Returns the schema that accepts exactly the values that the given schema refuses.
    static func not(_ schema: ValidatorSchema) -> ValidatorSchema { ValidatorSchema("not", schema.value) }

    /// Whether every value fits the schema.
    var isUnrestricted: Bool { types == nil && hasOnlyTypes }

    /// Whether the schema restricts nothing except the type.
    var hasOnlyTypes: Bool { values == nil && keywords.isEmpty && parts.isEmpty }

    /// Whether the schema has the keyword `not: {}`, so that no value fits it.
    var isNever: Bool {
        guard case .object(let negated)? = keywords["not"] else { return false }
        return negated == [:]
    }

    /// The schema as a BSON document, whose keywords are always in the same order.
    var document: BSONDocument {
        var members: [(String, BSONValue)] = []
        if let title { members.append(("title", .string(title))) }
        if let description { members.append(("description", .string(description))) }
        if let types {
            let names = types.map { BSONValue.string($0.rawValue) }
            members.append(("bsonType", names.count == 1 ? names[0] : .array(of: names)))
        }
        if let values { members.append(("enum", .array(of: values))) }
        for keyword in Self.order {
            if let value = keywords[keyword] { members.append((keyword, value)) }
            if keyword == "allOf", !parts.isEmpty { members.append(("allOf", .array(of: parts.map(\.value)))) }
        }
        return BSONDocument(members)
    }

    /// The schema in the form in which it can be the value of a keyword such as `not`.
    var value: BSONValue { .object(document) }

    /// The keywords that ``document`` contains after `enum`, in this order.
    private static let order = [
        "required", "properties", "patternProperties", "additionalProperties", "minProperties", "maxProperties",
        "dependencies", "items", "additionalItems", "minItems", "maxItems", "uniqueItems", "minimum",
        "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern", "allOf",
        "anyOf", "oneOf", "not",
    ]
}

extension ValidatorSchema {
    /// Adds the demands of another schema, so that a value must fit this schema and the other one.
    ///
    /// The other schema's restrictions become restrictions of this schema if none of them affects a restriction that
    /// this schema already has. Otherwise the other schema becomes one of the ``parts``.
    mutating func absorb(_ other: ValidatorSchema) {
        title = title ?? other.title
        description = description ?? other.description
        var other = other
        (other.title, other.description) = (nil, nil)
        guard canHold(other) else { return parts.append(other) }
        types = types ?? other.types
        values = values ?? other.values
        keywords.merge(other.keywords) { own, _ in own }
        parts += other.parts
    }

    private func canHold(_ other: ValidatorSchema) -> Bool {
        (types == nil || other.types == nil) && (values == nil || other.values == nil)
            && Set(keywords.keys.map(Self.family)).isDisjoint(with: other.keywords.keys.map(Self.family))
    }

    /// Returns the name of the group of a keyword.
    ///
    /// Keywords of one group affect each other, so two schemas that both have keywords of one group cannot be merged.
    private static func family(_ keyword: String) -> String {
        switch keyword {
        case "patternProperties", "additionalProperties": "properties"
        case "additionalItems": "items"
        case "exclusiveMinimum": "minimum"
        case "exclusiveMaximum": "maximum"
        default: keyword
        }
    }
}
