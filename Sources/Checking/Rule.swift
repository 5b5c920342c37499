/// A rule, stored in one byte for the walkers, with its name as raw value; ``RuleCode`` is the public type.
enum Rule: String, Sendable, BitwiseCopyable, CaseIterable {
    case requiredMissing = "required-missing"
    case requiredMissingDefaulted = "required-missing-defaulted"
    case requiredNull = "required-null"
    case requiredNullDefaulted = "required-null-defaulted"
    case typeMismatch = "type-mismatch"
    case numericWidthMismatch = "numeric-width-mismatch"
    case numericLossy = "numeric-lossy"
    case storedType = "stored-type"
    case malformedObjectID = "malformed-object-id"
    case nullOptional = "null-optional"
    case nullID = "null-id"
    case idTypeMismatch = "id-type-mismatch"
    case embeddedNotObject = "embedded-not-object"
    case arrayNotArray = "array-not-array"
    case embeddedRequiredMissing = "embedded-required-missing"
    case embeddedRequiredNull = "embedded-required-null"
    case arrayItemType = "array-item-type"
    case arrayNested = "array-nested"
    case arrayItemNull = "array-item-null"
    case setDuplicate = "set-duplicate"
    case dictionaryValueType = "dictionary-value-type"
    case dictionaryValueNull = "dictionary-value-null"
    case dictionaryKey = "dictionary-key"
    case mixedType = "mixed-type"
    case mixedDepth = "mixed-depth"
    case mixedCollection = "mixed-collection"
    case binarySubtype = "binary-subtype"
    case uuidSubtype = "uuid-subtype"
    case undefinedValue = "undefined-value"
    case geoPoint = "geo-point"
    case reservedField = "reserved-field"
    case extraField = "extra-field"
    case additionalProperty = "additional-property"
    case partitionMissing = "partition-missing"
    case partitionType = "partition-type"
    case linkType = "link-type"
    case linkNullItem = "link-null-item"
    case linkDangling = "link-dangling"
    case linkTargetUnsyncable = "link-target-unsyncable"
    case mixedDBRef = "mixed-dbref"
    case valueTooLarge = "value-too-large"
    case belowMinimum = "below-minimum"
    case aboveMaximum = "above-maximum"
    case notMultipleOf = "not-multiple-of"
    case tooShort = "too-short"
    case tooLong = "too-long"
    case patternMismatch = "pattern-mismatch"
    case notInEnum = "not-in-enum"
    case tooFewItems = "too-few-items"
    case tooManyItems = "too-many-items"
    case itemsNotUnique = "items-not-unique"
    case uniqueDuplicate = "unique-duplicate"
    case uniqueNull = "unique-null"
    case uniqueArrays = "unique-arrays"
    case additionalItem = "additional-item"
    case tooFewProperties = "too-few-properties"
    case tooManyProperties = "too-many-properties"
    case dependencyMissing = "dependency-missing"
    case dependencySchema = "dependency-schema"
    case allOf = "all-of"
    case anyOf = "any-of"
    case oneOf = "one-of"
    case not = "not"
    case encryptMismatch = "encrypt-mismatch"
    case powersyncDepth = "powersync-depth"
    case powersyncDate = "powersync-date"
    case powersyncBinaryLength = "powersync-binary-length"
    case powersyncIDRead = "powersync-id-read"
    case powersyncIDNull = "powersync-id-null"
    case powersyncRow = "powersync-row"
    case powersyncSize = "powersync-size"
    case powersyncID = "powersync-id"
    case powersyncIDFalsy = "powersync-id-falsy"
    case powersyncIDText = "powersync-id-text"
    case powersyncColumns = "powersync-columns"
    case powersyncType = "powersync-type"
    case powersyncBinary = "powersync-binary"
    case powersyncName = "powersync-name"
    case powersyncText = "powersync-text"
    case powersyncNonfinite = "powersync-nonfinite"
    case powersyncMapping = "powersync-mapping"
    case objectboxSize = "objectbox-size"
    case objectboxID = "objectbox-id"
    case objectboxConvert = "objectbox-convert"
    case objectboxArray = "objectbox-array"
    case objectboxDeprecated = "objectbox-deprecated"
    case objectboxNull = "objectbox-null"
    case dittoID = "ditto-id"
    case dittoIDSize = "ditto-id-size"
    case dittoSize = "ditto-size"
    case dittoTypes = "ditto-types"
    case rxdbID = "rxdb-id"
    case rxdbRead = "rxdb-read"
    case rxdbSchema = "rxdb-schema"
    case rxdbReserved = "rxdb-reserved"
    case couchbaseReserved = "couchbase-reserved"
    case couchbaseID = "couchbase-id"
    case couchbaseIDText = "couchbase-id-text"
    case couchbaseSize = "couchbase-size"
    case anyDepth = "any-depth"
    case anyDate = "any-date"
    case anyYear = "any-year"
    case anyIDText = "any-id-text"
    case anySize = "any-size"
    case anyLarge = "any-large"
    case anyType = "any-type"
    case anyNonfinite = "any-nonfinite"
    case anyLegacyUUID = "any-legacy-uuid"

    /// The public name of the rule.
    var code: RuleCode { RuleCode(rawValue: rawValue) }

    /// Whether a Prisma client reads a value that breaks the rule, but none of its queries finds the value.
    var isOfQueries: Bool { self == .storedType || self == .malformedObjectID }

    /// Whether reports show the rule under another code if it judges a constraint of an App Services schema.
    ///
    /// `additional-property` also judges such constraints, but keeps its code.
    var judgesConstraints: Bool {
        switch self {
        case .requiredMissing, .typeMismatch, .belowMinimum, .aboveMaximum, .notMultipleOf, .tooShort, .tooLong,
            .patternMismatch, .notInEnum, .tooFewItems, .tooManyItems, .itemsNotUnique, .additionalItem,
            .tooFewProperties, .tooManyProperties, .dependencyMissing, .dependencySchema, .allOf, .anyOf, .oneOf, .not,
            .encryptMismatch:
            true
        default: false
        }
    }

    /// The value that the rule expects, in words, such as "distinct elements"; `nil` if the words depend on the schema.
    var expectation: String? {
        switch self {
        case .nullID, .requiredNull, .embeddedRequiredNull: nil
        case .dictionaryKey: "key without a dot or a leading $"
        case .mixedType: "type that can sync"
        case .mixedDepth: "at most 100 levels"
        case .mixedCollection: "scalar or link"
        case .setDuplicate: "distinct elements"
        case .binarySubtype: "binData of subtype 0"
        case .uuidSubtype: "binData of subtype 4, 16 bytes"
        case .geoPoint: "longitude and latitude in range, as doubles"
        case .reservedField: "no write lock"
        case .extraField, .additionalProperty: "no such field"
        case .mixedDBRef: "link to the _id of a synced collection"
        case .valueTooLarge: "at most 16 MB"
        default: nil
        }
    }
}

/// Hashes the one byte of the rule instead of its name, because every finding hashes its rule.
extension Rule: Hashable {
    func hash(into hasher: inout Hasher) { unsafe withUnsafeBytes(of: self) { unsafe hasher.combine(bytes: $0) } }
}
