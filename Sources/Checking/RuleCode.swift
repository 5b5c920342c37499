/// The stable name of a rule, as reports spell it.
///
/// Open: later versions may add rules.
public struct RuleCode: RawRepresentable, Hashable, Sendable {
    /// The name.
    public let rawValue: String

    /// Wraps a name.
    public init(rawValue: String) { self.rawValue = rawValue }
}

extension RuleCode: CustomStringConvertible {
    /// The name.
    public var description: String { rawValue }
}

/// The rules of the App Services dialect (`semantics.md`, section 5.1).
extension RuleCode {
    /// A required field is absent, and no usable default stands in for it.
    public static let requiredMissing = Self(rawValue: "required-missing")
    /// A required field is absent, but a default of the right type stands in for it.
    public static let requiredMissingDefaulted = Self(rawValue: "required-missing-defaulted")
    /// A required field is null.
    public static let requiredNull = Self(rawValue: "required-null")
    /// A value is of another type than the schema names.
    public static let typeMismatch = Self(rawValue: "type-mismatch")
    /// A number is of another numeric type, which can hold it exactly.
    public static let numericWidthMismatch = Self(rawValue: "numeric-width-mismatch")
    /// A number is of another numeric type, which cannot hold it.
    public static let numericLossy = Self(rawValue: "numeric-lossy")
    /// An optional field is null.
    public static let nullOptional = Self(rawValue: "null-optional")
    /// The `_id` is null.
    public static let nullID = Self(rawValue: "null-id")
    /// The `_id` is of another type than the schema names.
    public static let idTypeMismatch = Self(rawValue: "id-type-mismatch")
    /// An embedded object or a dictionary is something else.
    public static let embeddedNotObject = Self(rawValue: "embedded-not-object")
    /// A list or a set is something else.
    public static let arrayNotArray = Self(rawValue: "array-not-array")
    /// A required field of an embedded object is absent.
    public static let embeddedRequiredMissing = Self(rawValue: "embedded-required-missing")
    /// A required field of an embedded object is null.
    public static let embeddedRequiredNull = Self(rawValue: "embedded-required-null")
    /// An element is of another type than the schema names.
    public static let arrayItemType = Self(rawValue: "array-item-type")
    /// An element is itself an array.
    public static let arrayNested = Self(rawValue: "array-nested")
    /// An element is null.
    public static let arrayItemNull = Self(rawValue: "array-item-null")
    /// A set holds two equal elements.
    public static let setDuplicate = Self(rawValue: "set-duplicate")
    /// A dictionary's value is of another type than the schema names.
    public static let dictionaryValueType = Self(rawValue: "dictionary-value-type")
    /// A dictionary's value is null.
    public static let dictionaryValueNull = Self(rawValue: "dictionary-value-null")
    /// A dictionary's key is one that clients cannot use.
    public static let dictionaryKey = Self(rawValue: "dictionary-key")
    /// A mixed value is of a type that cannot sync.
    public static let mixedType = Self(rawValue: "mixed-type")
    /// A mixed value nests deeper than clients can.
    public static let mixedDepth = Self(rawValue: "mixed-depth")
    /// A mixed value is an array or an object, in an app that does not know those.
    public static let mixedCollection = Self(rawValue: "mixed-collection")
    /// Binary data is of another subtype than 0.
    public static let binarySubtype = Self(rawValue: "binary-subtype")
    /// A UUID is not of subtype 4, or not of 16 bytes.
    public static let uuidSubtype = Self(rawValue: "uuid-subtype")
    /// A declared field holds a value of a deprecated type.
    public static let undefinedValue = Self(rawValue: "undefined-value")
    /// A point's coordinates are not two doubles in range.
    public static let geoPoint = Self(rawValue: "geo-point")
    /// The field by which the sync engine locks a document while it writes.
    public static let reservedField = Self(rawValue: "reserved-field")
    /// A field that the schema does not name.
    public static let extraField = Self(rawValue: "extra-field")
    /// A field that the schema forbids.
    public static let additionalProperty = Self(rawValue: "additional-property")
    /// The partition key is absent or null.
    public static let partitionMissing = Self(rawValue: "partition-missing")
    /// The partition key is of another type than the app's partitions are.
    public static let partitionType = Self(rawValue: "partition-type")
    /// A link is not of the type of the keys that it is compared with.
    public static let linkType = Self(rawValue: "link-type")
    /// A list or a set of links holds null.
    public static let linkNullItem = Self(rawValue: "link-null-item")
    /// No document has the key that a link holds.
    public static let linkDangling = Self(rawValue: "link-dangling")
    /// The document that a link leads to does not sync itself.
    public static let linkTargetUnsyncable = Self(rawValue: "link-target-unsyncable")
    /// A link in a mixed value leads to no synced collection, or is not of the type of its `_id`s.
    public static let mixedDBRef = Self(rawValue: "mixed-dbref")
    /// A value or the whole document is larger than what syncs.
    public static let valueTooLarge = Self(rawValue: "value-too-large")
}

extension RuleCode {
    /// The error code that the App Services API gives to such a finding; `nil` where it has none.
    ///
    /// Source: `semantics.md`, section 10.
    public var vendorAlias: String? {
        if let constraint { return constraint.vendorAlias }
        return switch self {
        case .requiredMissing, .embeddedRequiredMissing, .partitionMissing: "required"
        case .requiredNull, .typeMismatch, .numericWidthMismatch, .numericLossy, .nullOptional, .nullID,
            .idTypeMismatch, .embeddedNotObject, .arrayNotArray, .embeddedRequiredNull, .arrayItemType, .arrayNested,
            .arrayItemNull, .dictionaryValueType, .dictionaryValueNull, .uuidSubtype, .undefinedValue, .partitionType,
            .linkType, .linkNullItem, .mixedType, .mixedCollection, .binarySubtype:
            "invalid_type"
        case .dictionaryKey: "invalid_property_name"
        case .setDuplicate, .itemsNotUnique: "unique"
        case .belowMinimum: "number_gte"
        case .aboveMaximum: "number_lte"
        case .notMultipleOf: "multiple_of"
        case .tooShort: "string_gte"
        case .tooLong: "string_lte"
        case .patternMismatch: "pattern"
        case .notInEnum: "enum"
        case .tooFewItems: "array_min_items"
        case .tooManyItems: "array_max_items"
        case .additionalItem: "array_no_additional_items"
        case .tooFewProperties: "array_min_properties"
        case .tooManyProperties: "array_max_properties"
        case .dependencyMissing, .dependencySchema: "missing_dependency"
        case .allOf: "number_all_of"
        case .anyOf: "number_any_of"
        case .oneOf: "number_one_of"
        case .not: "number_not"
        case .additionalProperty: "additional_property_not_allowed"
        default: nil
        }
    }
}

/// The rules of the other dialect, where they judge the constraints of an App Services schema.
extension RuleCode {
    private static let constraintPrefix = "constraint-"

    /// The rule's name where it is a constraint's that fails.
    var ofConstraint: RuleCode { Self(rawValue: Self.constraintPrefix + rawValue) }

    /// The rule that judges a constraint; `nil` for a rule of another kind.
    private var constraint: RuleCode? {
        guard rawValue.hasPrefix(Self.constraintPrefix) else { return nil }
        return Self(rawValue: String(rawValue.dropFirst(Self.constraintPrefix.count)))
    }
}
