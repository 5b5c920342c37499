public import ServerSchema

/// A rule for documents, stored in one byte for the walkers.
///
/// `docs/reference/rules.md` has the meaning of each rule under its ``code``. Later versions may add rules.
public enum Rule: String, Sendable, BitwiseCopyable, CaseIterable {
    case requiredMissing, requiredMissingDefaulted, requiredNull, requiredNullDefaulted, typeMismatch,
        numericWidthMismatch, numericLossy, storedType, malformedObjectID, nullOptional, nullID, idTypeMismatch,
        embeddedNotObject, arrayNotArray, embeddedRequiredMissing, embeddedRequiredNull, arrayItemType, arrayNested,
        arrayItemNull, setDuplicate, dictionaryValueType, dictionaryValueNull, dictionaryKey, mixedType, mixedDepth,
        mixedCollection, binarySubtype, uuidSubtype, undefinedValue, geoPoint, reservedField, extraField,
        additionalProperty, partitionMissing, partitionType, linkType, linkNullItem, linkDangling, linkTargetUnsyncable
    case mixedDBRef = "mixedDbref"  // its code is `mixed-dbref`
    case valueTooLarge, belowMinimum, aboveMaximum, notMultipleOf, tooShort, tooLong, patternMismatch, notInEnum,
        tooFewItems, tooManyItems, itemsNotUnique, uniqueDuplicate, uniqueNull, uniqueArrays, additionalItem,
        tooFewProperties, tooManyProperties, dependencyMissing, dependencySchema, allOf, anyOf, oneOf, not,
        encryptMismatch
    case powersyncDepth, powersyncDate, powersyncBinaryLength, powersyncIDRead, powersyncIDNull, powersyncRow,
        powersyncSize, powersyncID, powersyncIDFalsy, powersyncIDText, powersyncColumns, powersyncType, powersyncBinary,
        powersyncName, powersyncText, powersyncNonfinite, powersyncMapping
    case objectboxSize, objectboxID, objectboxConvert, objectboxArray, objectboxDeprecated, objectboxNull
    case dittoID, dittoIDSize, dittoSize, dittoTypes
    case rxdbID, rxdbRead, rxdbSchema, rxdbReserved
    case couchbaseReserved, couchbaseID, couchbaseIDText, couchbaseSize
    case anyDepth, anyDate, anyYear, anyIDText, anySize, anyLarge, anyType, anyNonfinite, anyLegacyUUID

    /// The public name of the rule: its words in lower case, with hyphens, such as `required-null`.
    public var code: RuleCode { Self.codes[self] ?? RuleCode(rawValue: rawValue) }

    private static let codes = Dictionary(
        uniqueKeysWithValues: allCases.map { rule in
            let letters = Array(rule.rawValue)
            let words = letters.indices.map { index in
                let isAfterWord = index > 0 && letters[index - 1].isLowercase
                let isBeforeWord = index > 0 && letters.dropFirst(index + 1).first?.isLowercase == true
                return (letters[index].isUppercase && (isAfterWord || isBeforeWord) ? "-" : "")
                    + letters[index].lowercased()
            }
            return (rule, RuleCode(rawValue: words.joined()))
        })

    /// The rules by their codes, with those under which they judge constraints.
    static let byCode = Dictionary(
        uniqueKeysWithValues: allCases.flatMap { [($0.code, $0), ($0.code.ofConstraint, $0)] })

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
        case .dictionaryKey: "key without a dot or a leading $"
        case .mixedType: "type that can sync"
        case .mixedDepth: "at most 100 levels"
        case .mixedCollection: "scalar or link"
        case .setDuplicate, .itemsNotUnique: "distinct elements"
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

extension Rule {
    /// Returns the error code of the App Services API, or of Prisma, for a finding of this rule; `nil` if there is
    /// none.
    ///
    /// Source: `semantics.md`, section 10; the error reference of Prisma.
    public func vendorCode(in dialect: Dialect) -> String? {
        if dialect == .prisma {
            return switch self {
            case .requiredMissing, .requiredNull, .embeddedRequiredMissing, .embeddedRequiredNull, .arrayItemNull:
                "P2032"
            case .typeMismatch, .embeddedNotObject, .arrayNotArray, .arrayItemType, .arrayNested, .malformedObjectID:
                "P2023"
            default: nil
            }
        }
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

extension Rule: Hashable {
    /// Hashes the one byte of the rule instead of its name, because every finding hashes its rule.
    public func hash(into hasher: inout Hasher) {
        unsafe withUnsafeBytes(of: self) { unsafe hasher.combine(bytes: $0) }
    }
}
