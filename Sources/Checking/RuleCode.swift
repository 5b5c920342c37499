public import ServerSchema

/// The stable name of a rule, as reports show it.
///
/// The type is not an enumeration, because later versions may add rules.
public struct RuleCode: RawRepresentable, Hashable, Sendable {
    /// The stable name of the rule, as reports show it.
    public let rawValue: String

    /// Creates the code of a rule with a name.
    public init(rawValue: String) { self.rawValue = rawValue }
}

extension RuleCode: CustomStringConvertible {
    /// The name of the rule.
    public var description: String { rawValue }
}

/// The rules of the App Services dialect (`semantics.md`, section 5.1).
extension RuleCode {
    /// A required field is absent, and no usable default replaces it.
    public static let requiredMissing = Rule.requiredMissing.code
    /// A required field is absent, but a default of the right type replaces it.
    public static let requiredMissingDefaulted = Rule.requiredMissingDefaulted.code
    /// A required field is null.
    public static let requiredNull = Rule.requiredNull.code
    /// A value is of another type than the schema names.
    public static let typeMismatch = Rule.typeMismatch.code
    /// A number is of another numeric type than the schema names; the named type can hold it exactly.
    public static let numericWidthMismatch = Rule.numericWidthMismatch.code
    /// A number is of another numeric type than the schema names; the named type cannot hold it exactly.
    public static let numericLossy = Rule.numericLossy.code
    /// An optional field is null.
    public static let nullOptional = Rule.nullOptional.code
    /// The `_id` is null.
    public static let nullID = Rule.nullID.code
    /// The `_id` is of another type than the schema names.
    public static let idTypeMismatch = Rule.idTypeMismatch.code
    /// A value that should be an embedded object or a dictionary is no object.
    public static let embeddedNotObject = Rule.embeddedNotObject.code
    /// A value that should be a list or a set is no array.
    public static let arrayNotArray = Rule.arrayNotArray.code
    /// A required field of an embedded object is absent, and no usable default replaces it.
    public static let embeddedRequiredMissing = Rule.embeddedRequiredMissing.code
    /// A required field of an embedded object is null.
    public static let embeddedRequiredNull = Rule.embeddedRequiredNull.code
    /// An element of an array is of another type than the schema names.
    public static let arrayItemType = Rule.arrayItemType.code
    /// An element of an array is itself an array.
    public static let arrayNested = Rule.arrayNested.code
    /// An element of an array is null.
    public static let arrayItemNull = Rule.arrayItemNull.code
    /// A set holds two equal elements.
    public static let setDuplicate = Rule.setDuplicate.code
    /// A dictionary's value is of another type than the schema names.
    public static let dictionaryValueType = Rule.dictionaryValueType.code
    /// A dictionary's value is null.
    public static let dictionaryValueNull = Rule.dictionaryValueNull.code
    /// A dictionary's key is one that clients cannot use.
    public static let dictionaryKey = Rule.dictionaryKey.code
    /// A mixed value is of a type that cannot sync.
    public static let mixedType = Rule.mixedType.code
    /// A mixed value has more levels than clients support.
    public static let mixedDepth = Rule.mixedDepth.code
    /// A mixed value is an array or an object, in an app that does not allow arrays and objects in mixed values.
    public static let mixedCollection = Rule.mixedCollection.code
    /// Binary data is of another subtype than 0.
    public static let binarySubtype = Rule.binarySubtype.code
    /// A UUID is not of subtype 4, or not of 16 bytes.
    public static let uuidSubtype = Rule.uuidSubtype.code
    /// A value that the schema describes is of a deprecated type.
    public static let undefinedValue = Rule.undefinedValue.code
    /// A point's coordinates are missing, fewer than two, not all doubles, or out of range.
    public static let geoPoint = Rule.geoPoint.code
    /// A document has a field by which the sync engine locks it during a write.
    public static let reservedField = Rule.reservedField.code
    /// A document has a field that the schema does not name.
    public static let extraField = Rule.extraField.code
    /// A document has a field that the schema forbids.
    public static let additionalProperty = Rule.additionalProperty.code
    /// The partition key is absent or null.
    public static let partitionMissing = Rule.partitionMissing.code
    /// The partition key is of another type than the app's sync settings name.
    public static let partitionType = Rule.partitionType.code
    /// A link is not of the type of the field to which it refers, usually `_id`.
    public static let linkType = Rule.linkType.code
    /// A list or a set of links holds null.
    public static let linkNullItem = Rule.linkNullItem.code
    /// No document has the key that a link holds.
    public static let linkDangling = Rule.linkDangling.code
    /// The document that a link leads to does not sync itself.
    public static let linkTargetUnsyncable = Rule.linkTargetUnsyncable.code
    /// A link in a mixed value leads to no synced collection, or is not of the type of that collection's `_id`s.
    public static let mixedDBRef = Rule.mixedDBRef.code
    /// A value or the whole document is too large to sync.
    public static let valueTooLarge = Rule.valueTooLarge.code
}

/// The rules that only the `prisma` dialect has.
///
/// The dialect also uses some of the rules of the App Services dialect, and the rule `not-in-enum` of the `jsonschema`
/// dialect.
extension RuleCode {
    /// A required field is null, but clients see its default.
    public static let requiredNullDefaulted = Rule.requiredNullDefaulted.code
    /// A client reads the value, but its queries name values of another type, so none of them finds the document.
    public static let storedType = Rule.storedType.code
    /// A value under `@db.ObjectId` is no ObjectId and cannot become one, so a query with it fails.
    public static let malformedObjectID = Rule.malformedObjectID.code
}

/// The rules that the `jsonschema` dialect adds (`semantics.md`, section 5.2).
///
/// The dialect also uses some of the rules of the App Services dialect.
extension RuleCode {
    /// A number is less than `minimum`.
    public static let belowMinimum = Rule.belowMinimum.code
    /// A number is more than `maximum`.
    public static let aboveMaximum = Rule.aboveMaximum.code
    /// A number is no multiple of `multipleOf`.
    public static let notMultipleOf = Rule.notMultipleOf.code
    /// A string is shorter than `minLength`.
    public static let tooShort = Rule.tooShort.code
    /// A string is longer than `maxLength`.
    public static let tooLong = Rule.tooLong.code
    /// `pattern` matches nowhere in a string.
    public static let patternMismatch = Rule.patternMismatch.code
    /// A value is not one of the values that `enum` lists.
    public static let notInEnum = Rule.notInEnum.code
    /// An array has fewer elements than `minItems`.
    public static let tooFewItems = Rule.tooFewItems.code
    /// An array has more elements than `maxItems`.
    public static let tooManyItems = Rule.tooManyItems.code
    /// Another document has the same value in a unique index.
    public static let uniqueDuplicate = Rule.uniqueDuplicate.code
    /// A value in a unique index is null or missing, as in another document.
    public static let uniqueNull = Rule.uniqueNull.code
    /// A document has arrays at two paths of a unique index.
    public static let uniqueArrays = Rule.uniqueArrays.code
    /// Two elements of an array are equal, although `uniqueItems` forbids it.
    public static let itemsNotUnique = Rule.itemsNotUnique.code
    /// An array has an element after those that `items` lists, and `additionalItems` does not allow the element.
    public static let additionalItem = Rule.additionalItem.code
    /// An object has fewer fields than `minProperties`.
    public static let tooFewProperties = Rule.tooFewProperties.code
    /// An object has more fields than `maxProperties`.
    public static let tooManyProperties = Rule.tooManyProperties.code
    /// A field is missing that `dependencies` requires because another field is present.
    public static let dependencyMissing = Rule.dependencyMissing.code
    /// An object has a field for which `dependencies` gives a schema, but the object does not fit that schema.
    public static let dependencySchema = Rule.dependencySchema.code
    /// A value does not fit all schemas of `allOf`.
    public static let allOf = Rule.allOf.code
    /// A value fits none of the schemas of `anyOf`.
    public static let anyOf = Rule.anyOf.code
    /// A value fits none, or several, of the schemas of `oneOf`.
    public static let oneOf = Rule.oneOf.code
    /// A value fits the schema of `not`.
    public static let not = Rule.not.code
    /// A value is not encrypted in the way that `encrypt` requires.
    public static let encryptMismatch = Rule.encryptMismatch.code
}

extension RuleCode {
    /// Returns the error code of the App Services API, or of Prisma, for a finding of this rule; `nil` if there is
    /// none.
    ///
    /// Source: `semantics.md`, section 10; the error reference of Prisma.
    public func vendorCode(in dialect: Dialect) -> String? {
        guard dialect == .prisma else { return vendorAlias }
        return switch self {
        case .requiredMissing, .requiredNull, .embeddedRequiredMissing, .embeddedRequiredNull, .arrayItemNull: "P2032"
        case .typeMismatch, .embeddedNotObject, .arrayNotArray, .arrayItemType, .arrayNested, .malformedObjectID:
            "P2023"
        default: nil
        }
    }

    private var vendorAlias: String? {
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

/// The names of the rules that judge the constraints of an App Services schema.
///
/// The names are those of the `jsonschema` dialect with a prefix.
extension RuleCode {
    private static let constraintPrefix = "constraint-"

    /// The name under which this rule is reported if it judges a constraint of an App Services schema.
    var ofConstraint: RuleCode { Self(rawValue: Self.constraintPrefix + rawValue) }

    /// The name of this rule without the prefix for constraints; `nil` if it does not have the prefix.
    package var constraint: RuleCode? {
        guard rawValue.hasPrefix(Self.constraintPrefix) else { return nil }
        return Self(rawValue: String(rawValue.dropFirst(Self.constraintPrefix.count)))
    }
}
