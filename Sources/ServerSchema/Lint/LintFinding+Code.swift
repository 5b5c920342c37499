extension LintFinding {
    /// The stable name of a rule, as reports spell it.
    ///
    /// Open: later versions may add rules. Source: `semantics.md` section 4 of the project's reference, except for
    /// `unknown-keyword` and the rules declared after it.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name.
        public let rawValue: String
        /// Wraps a name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }
}

extension LintFinding.Code: CustomStringConvertible {
    /// The name.
    public var description: String { rawValue }
}

extension LintFinding.Code: ExpressibleByStringLiteral {
    /// Wraps a name.
    public init(stringLiteral name: String) { self.init(rawValue: name) }
}

/// Rules for types, keys and names.
extension LintFinding.Code {
    /// A part of a schema, or a file, cannot be read.
    public static let schemaInvalid: Self = "schema-invalid"
    /// A collection, or the whole app, has no schema.
    public static let schemaMissing: Self = "schema-missing"
    /// A root has no title.
    public static let titleMissing: Self = "title-missing"
    /// Two roots have one title.
    public static let titleDuplicate: Self = "title-duplicate"
    /// An embedded title names two shapes, or is also the title of a root.
    public static let titleConflictEmbedded: Self = "title-conflict-embedded"
    /// An embedded object has no title.
    public static let embeddedTitleMissing: Self = "embedded-title-missing"
    /// A title has more than 57 characters, or bytes.
    public static let titleTooLong: Self = "title-too-long"
    /// A title is not an identifier.
    public static let titleCharset: Self = "title-charset"
    /// The primary key is not defined.
    public static let idMissing: Self = "id-missing"
    /// The primary key is of a type that clients cannot have as a key.
    public static let idType: Self = "id-type"
    /// The primary key is optional.
    public static let idNotRequired: Self = "id-not-required"
    /// A property's name has more than 63 characters, or bytes.
    public static let propertyNameTooLong: Self = "property-name-too-long"
    /// A property's name begins with `$`.
    public static let propertyNameDollar: Self = "property-name-dollar"
    /// A property's name has a dot.
    public static let propertyNameDot: Self = "property-name-dot"
    /// A queryable field's name is a word of the query language.
    public static let propertyNameReserved: Self = "property-name-reserved"
    /// A property may have more than one type.
    public static let typeMultiple: Self = "type-multiple"
    /// A type that clients do not have.
    public static let typeUnsupported: Self = "type-unsupported"
    /// `type` instead of `bsonType`.
    public static let jsonTypeUsed: Self = "json-type-used"
    /// A property without any type.
    public static let typeMissing: Self = "type-missing"
    /// `required` names a field that `properties` does not name.
    public static let requiredUndefined: Self = "required-undefined"
    /// A default of another type than its property.
    public static let defaultType: Self = "default-type"
    /// A default of an optional property.
    public static let defaultOnOptional: Self = "default-on-optional"
    /// A keyword that only the server looks at.
    public static let keywordNotMapped: Self = "keyword-not-mapped"
}

/// Rules for collections, embedded objects and links.
extension LintFinding.Code {
    /// An array without a schema for its elements.
    public static let arrayItemsMissing: Self = "array-items-missing"
    /// An array whose positions have schemas of their own.
    public static let arrayItemsTuple: Self = "array-items-tuple"
    /// A collection directly in a collection.
    public static let collectionNested: Self = "collection-nested"
    /// A collection whose elements may be null.
    public static let collectionNullableItems: Self = "collection-nullable-items"
    /// A required collection.
    public static let arrayRequired: Self = "array-required"
    /// A set of embedded objects.
    public static let setOfEmbedded: Self = "set-of-embedded"
    /// An embedded object with an `_id`.
    public static let embeddedWithID: Self = "embedded-with-id"
    /// An embedded type inside itself.
    public static let embeddedCycle: Self = "embedded-cycle"
    /// A required embedded object.
    public static let embeddedRequired: Self = "embedded-required"
    /// A required mixed property.
    public static let mixedRequired: Self = "mixed-required"
    /// An object with named properties and a schema for the others.
    public static let dictionaryWithProperties: Self = "dictionary-with-properties"
    /// A required link.
    public static let linkRequired: Self = "link-required"
    /// A link that starts from `_id`.
    public static let linkSourceID: Self = "link-source-id"
    /// A link to another field than `_id`.
    public static let linkForeignKey: Self = "link-foreign-key"
    /// A link whose start or end does not exist.
    public static let linkRefUnresolved: Self = "link-ref-unresolved"
    /// A link whose ends have two types, or whose `is_list` is wrong.
    public static let linkType: Self = "link-type"
    /// A link between a collection with and one without the partition key.
    public static let linkCrossPartition: Self = "link-cross-partition"
}
