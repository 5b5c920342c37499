/// Lint rules for the app and the deployment.
extension LintFinding.Code {
    /// A queryable field that no schema has.
    public static let queryableUnknown: Self = "queryable-unknown"
    /// A queryable field of a type that cannot be queried.
    public static let queryableType: Self = "queryable-type"
    /// A type whose only queryable field is `_id`.
    public static let queryableNone: Self = "queryable-none"
    /// An indexed queryable field that breaks a rule, for example because its type differs between collections.
    public static let indexedQueryable: Self = "indexed-queryable"
    /// A collection's `properties` does not name the partition key.
    public static let partitionKeyUndefined: Self = "partition-key-undefined"
    /// The partition key has another type than the sync configuration says, or a type that no key can have.
    public static let partitionKeyType: Self = "partition-key-type"
    /// A kind of data source or deployment that cannot sync.
    public static let datasourceType: Self = "datasource-type"
    /// A server too old to sync.
    public static let mongodbVersion: Self = "mongodb-version"
    /// A database or collection whose name has a space.
    public static let namespaceSpace: Self = "namespace-space"
    /// A time series that is not listed in `asymmetric_tables`.
    public static let timeSeries: Self = "time-series"
    /// MongoDB's own validator interferes with sync.
    public static let nativeValidator: Self = "native-validator"
    /// A unique index, because of which the server erases writes of clients (`semantics.md`, section 5.1).
    public static let uniqueConflict: Self = "unique-conflict"
}

/// Lint rules for the notes of the schema reader, and rules that follow from sections 2 and 11 of `semantics.md`.
extension LintFinding.Code {
    /// A keyword that no dialect knows.
    public static let unknownKeyword: Self = "unknown-keyword"
    /// A keyword that App Services does not document.
    public static let keywordUndocumented: Self = "keyword-undocumented"
    /// A type that is spelled as another tool spells it.
    public static let typeSpelling: Self = "type-spelling"
    /// A default of null.
    public static let defaultNull: Self = "default-null"
    /// A data source whose name differs from the name of its folder.
    public static let datasourceName: Self = "datasource-name"
    /// The sync configuration names a data source that the app does not have.
    public static let syncServiceUnknown: Self = "sync-service-unknown"
    /// A collection of a data source that does not sync.
    public static let serviceNotSynced: Self = "service-not-synced"
    /// Development mode is on, so clients may change the schemas.
    public static let developmentMode: Self = "development-mode"
    /// `asymmetric_tables` names a collection or a type that has no schema.
    public static let asymmetricUnknown: Self = "asymmetric-unknown"
    /// A name in `collection_queryable_fields_names` that is the name or the title of more than one collection.
    public static let queryableAmbiguous: Self = "queryable-ambiguous"
    /// A role that Flexible Sync denies all access.
    public static let roleNotSyncable: Self = "role-not-syncable"
}

/// Lint rules for schemas in MongoDB's own dialect.
extension LintFinding.Code {
    /// The root of a schema forbids `_id`, so that no document can be stored.
    public static let idForbidden: Self = "id-forbidden"
    /// A regular expression that MongoDB refuses from 6.1 on.
    public static let patternOutdated: Self = "pattern-outdated"
}

/// Lint rules for Prisma schemas.
extension LintFinding.Code {
    /// An `@id` that is not mapped to `_id`.
    public static let idUnmapped: Self = "id-unmapped"
    /// A default of `auto()` on a field that is no `ObjectId`, or not the `@id`.
    public static let autoDefault: Self = "auto-default"
    /// A native type that does not belong to the field's scalar type.
    public static let nativeType: Self = "native-type"
    /// A native type with values that the field's scalar type cannot hold exactly.
    public static let nativeTypeLossy: Self = "native-type-lossy"
    /// A key of a relation whose type differs from the type of the field that it is compared with.
    public static let relationType: Self = "relation-type"
}
