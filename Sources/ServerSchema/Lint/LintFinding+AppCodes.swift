/// Lint rules for the app and the deployment.
extension LintFinding.Code {
    /// The sync configuration lists a queryable field that no schema has, or queryable fields of a collection that no
    /// schema covers.
    public static let queryableUnknown: Self = "queryable-unknown"
    /// A queryable field has a type that cannot be queried.
    public static let queryableType: Self = "queryable-type"
    /// An object type has no queryable field, so clients can query it only by `_id`.
    public static let queryableNone: Self = "queryable-none"
    /// An indexed queryable field breaks a rule, for example because its type differs between collections.
    public static let indexedQueryable: Self = "indexed-queryable"
    /// A collection's `properties` does not name the partition key.
    public static let partitionKeyUndefined: Self = "partition-key-undefined"
    /// The partition key has another type than the sync configuration says, or a type that no partition key can have.
    public static let partitionKeyType: Self = "partition-key-type"
    /// The data source or the deployment is of a kind that cannot sync.
    public static let datasourceType: Self = "datasource-type"
    /// The server is too old to sync.
    public static let mongodbVersion: Self = "mongodb-version"
    /// The name of a synced collection or of its database contains a space.
    public static let namespaceSpace: Self = "namespace-space"
    /// A time series collection is not listed in `asymmetric_tables`.
    public static let timeSeries: Self = "time-series"
    /// MongoDB's own validator interferes with sync.
    public static let nativeValidator: Self = "native-validator"
    /// A collection has a unique index besides the one on `_id`.
    ///
    /// If two clients write the same value, the sync server erases the later write.
    ///
    /// Source: `semantics.md` section 5.1 of the project's reference.
    public static let uniqueConflict: Self = "unique-conflict"
}

/// Lint rules for the notes that the schema reader makes, and lint rules from sections 2 and 11 of `semantics.md` in
/// the project's reference.
extension LintFinding.Code {
    /// A schema has a keyword that no dialect knows.
    public static let unknownKeyword: Self = "unknown-keyword"
    /// A schema has a keyword that App Services does not document.
    public static let keywordUndocumented: Self = "keyword-undocumented"
    /// A schema has a variant of a type's name, such as `float` for `double`, or a type that App Services does not
    /// have.
    public static let typeSpelling: Self = "type-spelling"
    /// The default of a property is null.
    public static let defaultNull: Self = "default-null"
    /// The name of a data source differs from the name of its folder.
    public static let datasourceName: Self = "datasource-name"
    /// The sync configuration names a data source that the app does not have.
    public static let syncServiceUnknown: Self = "sync-service-unknown"
    /// A collection is in a data source that does not sync.
    public static let serviceNotSynced: Self = "service-not-synced"
    /// Development mode is on, so clients may change the schemas.
    public static let developmentMode: Self = "development-mode"
    /// `asymmetric_tables` names a collection or a type that has no schema.
    public static let asymmetricUnknown: Self = "asymmetric-unknown"
    /// A name in `collection_queryable_fields_names` is the name or the title of more than one collection.
    public static let queryableAmbiguous: Self = "queryable-ambiguous"
    /// Flexible Sync denies a role all access.
    public static let roleNotSyncable: Self = "role-not-syncable"
}

/// Lint rules for schemas in MongoDB's own dialect.
extension LintFinding.Code {
    /// The root of a schema forbids `_id`, so that no document can be stored.
    public static let idForbidden: Self = "id-forbidden"
    /// MongoDB 6.1 and later refuse a regular expression that the schema contains.
    public static let patternOutdated: Self = "pattern-outdated"
}

/// Lint rules for Prisma schemas.
extension LintFinding.Code {
    /// A model, a type, a field or an index is as Prisma refuses it on MongoDB, and no other code says so.
    public static let prismaRefused: Self = "prisma-refused"
    /// An `@id` field is not mapped to `_id`.
    public static let idUnmapped: Self = "id-unmapped"
    /// A field has the default `auto()`, but is not an `ObjectId` or not the `@id`.
    public static let autoDefault: Self = "auto-default"
    /// A field has a native type (`@db.…`) that Prisma does not allow for its scalar type.
    public static let nativeType: Self = "native-type"
    /// A field has a native type with values that the client cannot hold exactly, such as `@db.Long` on an `Int`.
    public static let nativeTypeLossy: Self = "native-type-lossy"
    /// A field of a relation has another type, or another native type, than the field that it references.
    public static let relationType: Self = "relation-type"
}
