extension LintFinding {
    /// The stable name of a lint rule, as reports spell it.
    ///
    /// Later versions may add rules. Source of most rules: `semantics.md` section 4 of the project's reference.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name of the rule.
        public let rawValue: String
        /// Creates a code from the name of a rule.
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}

extension LintFinding.Code: CustomStringConvertible {
    /// The name of the rule.
    public var description: String { rawValue }
}

extension LintFinding.Code: ExpressibleByStringLiteral {
    /// Creates a code from the name of a rule.
    public init(stringLiteral name: String) { self.init(rawValue: name) }
}

/// Lint rules for types, keys and names.
extension LintFinding.Code {
    /// A part of a schema, or a file, cannot be read.
    public static let schemaInvalid: Self = "schema-invalid"
    /// A collection, or the whole app, has no schema.
    public static let schemaMissing: Self = "schema-missing"
    /// The root schema of a collection has no title.
    public static let titleMissing: Self = "title-missing"
    /// The root schemas of two collections have the same title.
    public static let titleDuplicate: Self = "title-duplicate"
    /// Two different embedded objects have the same title, or an embedded object has the title of a root schema.
    public static let titleConflictEmbedded: Self = "title-conflict-embedded"
    /// An embedded object has no title.
    public static let embeddedTitleMissing: Self = "embedded-title-missing"
    /// A title has more than 57 characters (an error), or at most 57 characters but more than 57 bytes (a warning).
    public static let titleTooLong: Self = "title-too-long"
    /// A title cannot be the name of a client's class, because it is not an identifier.
    public static let titleCharset: Self = "title-charset"
    /// A collection's `properties` does not name `_id`, the primary key.
    public static let idMissing: Self = "id-missing"
    /// The primary key has a type that clients do not support for primary keys.
    public static let idType: Self = "id-type"
    /// A collection's `required` does not name `_id`, the primary key.
    public static let idNotRequired: Self = "id-not-required"
    /// A property's name has more than 63 characters (an error), or at most 63 characters but more than 63 bytes (a
    /// warning).
    public static let propertyNameTooLong: Self = "property-name-too-long"
    /// A property's name begins with `$`.
    public static let propertyNameDollar: Self = "property-name-dollar"
    /// A property's name contains a dot.
    public static let propertyNameDot: Self = "property-name-dot"
    /// The name of a queryable field is a reserved word of the query language.
    public static let propertyNameReserved: Self = "property-name-reserved"
    /// A property may have more than one type.
    public static let typeMultiple: Self = "type-multiple"
    /// A property has a type that clients do not support.
    public static let typeUnsupported: Self = "type-unsupported"
    /// A schema has `type` instead of `bsonType`.
    public static let jsonTypeUsed: Self = "json-type-used"
    /// A property has no type.
    public static let typeMissing: Self = "type-missing"
    /// `required` names a field that `properties` does not name.
    public static let requiredUndefined: Self = "required-undefined"
    /// The default of a property has another type than the property.
    public static let defaultType: Self = "default-type"
    /// A description has the annotation `@deprecated`, but no day after it.
    public static let deprecatedWithoutDay: Self = "deprecated-without-day"
    /// A property that `required` does not name has a default.
    public static let defaultOnOptional: Self = "default-on-optional"
    /// Only the server checks a keyword, so clients can write documents that break its rule.
    public static let keywordNotMapped: Self = "keyword-not-mapped"
}

/// Lint rules for lists, sets, dictionaries, embedded objects and links.
extension LintFinding.Code {
    /// An array has no schema for its elements.
    public static let arrayItemsMissing: Self = "array-items-missing"
    /// An array has a schema for each position instead of one schema for all elements.
    public static let arrayItemsTuple: Self = "array-items-tuple"
    /// A list, set or dictionary is directly inside another one.
    public static let collectionNested: Self = "collection-nested"
    /// The elements of a list or set, or the values of a dictionary, may be null.
    public static let collectionNullableItems: Self = "collection-nullable-items"
    /// A list, set or dictionary is required.
    public static let arrayRequired: Self = "array-required"
    /// A set contains embedded objects.
    public static let setOfEmbedded: Self = "set-of-embedded"
    /// An embedded object has an `_id`.
    public static let embeddedWithID: Self = "embedded-with-id"
    /// An embedded object contains an embedded object with the same title.
    public static let embeddedCycle: Self = "embedded-cycle"
    /// An embedded object is required.
    public static let embeddedRequired: Self = "embedded-required"
    /// A property of type `mixed` is required.
    public static let mixedRequired: Self = "mixed-required"
    /// An object has named properties, and also a schema for other properties.
    public static let dictionaryWithProperties: Self = "dictionary-with-properties"
    /// A link starts from a required field.
    public static let linkRequired: Self = "link-required"
    /// A link starts from `_id`.
    public static let linkSourceID: Self = "link-source-id"
    /// A link leads to a field other than `_id`.
    public static let linkForeignKey: Self = "link-foreign-key"
    /// A link cannot be resolved: its entry is malformed, it names a field or a collection that has no schema, or it
    /// leads to another data source.
    public static let linkRefUnresolved: Self = "link-ref-unresolved"
    /// A link's field and the field that the link leads to have different types, or `is_list` does not fit the link's
    /// field.
    public static let linkType: Self = "link-type"
    /// Only one of the two collections of a link has the partition key.
    public static let linkCrossPartition: Self = "link-cross-partition"
}
