extension LintFinding {
    /// The stable name of a rule, as reports spell it.
    ///
    /// Open: later versions may add rules. Source: `semantics.md` section 4 of the project's reference, but for those
    /// of the last two groups.
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

/// Types, keys and names.
extension LintFinding.Code {
    /// A collection, or the whole app, has no schema.
    public static let schemaMissing: Self = "schema-missing"
    /// A root has no title.
    public static let titleMissing: Self = "title-missing"
    /// Two roots have one title.
    public static let titleDuplicate: Self = "title-duplicate"
    /// An embedded title stands for two shapes, or is a root's.
    public static let titleConflictEmbedded: Self = "title-conflict-embedded"
    /// An embedded object has no title.
    public static let embeddedTitleMissing: Self = "embedded-title-missing"
    /// A title has more than 57 characters, or bytes.
    public static let titleTooLong: Self = "title-too-long"
    /// A title is no identifier.
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
    /// `required` names what `properties` does not.
    public static let requiredUndefined: Self = "required-undefined"
    /// A default of another type than its property.
    public static let defaultType: Self = "default-type"
    /// A default of an optional property.
    public static let defaultOnOptional: Self = "default-on-optional"
    /// A keyword that only the server looks at.
    public static let keywordNotMapped: Self = "keyword-not-mapped"
}

/// Collections, embedded objects and links.
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
    /// A link whose start or end is not there.
    public static let linkRefUnresolved: Self = "link-ref-unresolved"
    /// A link whose ends have two types, or whose `is_list` is wrong.
    public static let linkType: Self = "link-type"
    /// A link between a collection with and one without the partition key.
    public static let linkCrossPartition: Self = "link-cross-partition"
}

/// The app and the deployment.
extension LintFinding.Code {
    /// A queryable field that no schema has.
    public static let queryableUnknown: Self = "queryable-unknown"
    /// A queryable field of a type that cannot be queried.
    public static let queryableType: Self = "queryable-type"
    /// A type whose only queryable field is `_id`.
    public static let queryableNone: Self = "queryable-none"
    /// An indexed queryable field that breaks its rules.
    public static let indexedQueryable: Self = "indexed-queryable"
    /// The partition key is not a property.
    public static let partitionKeyUndefined: Self = "partition-key-undefined"
    /// The partition key has another type than the sync configuration says, or one that no key may have.
    public static let partitionKeyType: Self = "partition-key-type"
    /// A kind of data source or deployment that cannot sync.
    public static let datasourceType: Self = "datasource-type"
    /// A server too old to sync.
    public static let mongodbVersion: Self = "mongodb-version"
    /// A database or collection whose name has a space.
    public static let namespaceSpace: Self = "namespace-space"
    /// A time series.
    public static let timeSeries: Self = "time-series"
    /// MongoDB's own validator gets into the way of sync.
    public static let nativeValidator: Self = "native-validator"
}

/// What the reader notices, and what follows from sections 2 and 11.
extension LintFinding.Code {
    /// A keyword that no dialect knows.
    public static let unknownKeyword: Self = "unknown-keyword"
    /// A keyword that App Services does not document.
    public static let keywordUndocumented: Self = "keyword-undocumented"
    /// A type spelled as another tool spells it.
    public static let typeSpelling: Self = "type-spelling"
    /// A default of null.
    public static let defaultNull: Self = "default-null"
    /// A data source whose folder has another name.
    public static let datasourceName: Self = "datasource-name"
    /// The sync configuration names a data source that the app does not have.
    public static let syncServiceUnknown: Self = "sync-service-unknown"
    /// A collection of a data source that does not sync.
    public static let serviceNotSynced: Self = "service-not-synced"
    /// Clients may change the schemas.
    public static let developmentMode: Self = "development-mode"
    /// The sync configuration names a collection that has no schema.
    public static let asymmetricUnknown: Self = "asymmetric-unknown"
    /// A name that is one collection's and another's title.
    public static let queryableAmbiguous: Self = "queryable-ambiguous"
    /// A role that Flexible Sync denies all access.
    public static let roleNotSyncable: Self = "role-not-syncable"
}

/// MongoDB's own dialect.
extension LintFinding.Code {
    /// A root that allows no `_id`, so that no document can be stored.
    public static let idForbidden: Self = "id-forbidden"
}
