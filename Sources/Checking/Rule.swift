/// A rule in a byte, for the walk; ``RuleCode`` is its public name.
enum Rule: UInt8, Hashable, Sendable, BitwiseCopyable, CaseIterable {
    case requiredMissing, requiredMissingDefaulted, requiredNull, typeMismatch, numericWidthMismatch, numericLossy,
        nullOptional, nullID, idTypeMismatch, embeddedNotObject, arrayNotArray, embeddedRequiredMissing,
        embeddedRequiredNull, arrayItemType, arrayNested, arrayItemNull, setDuplicate, dictionaryValueType,
        dictionaryValueNull, dictionaryKey, mixedType, mixedDepth, mixedCollection, binarySubtype, uuidSubtype,
        undefinedValue, geoPoint, reservedField, extraField, additionalProperty, partitionMissing, partitionType,
        linkType, linkNullItem, linkDangling, linkTargetUnsyncable, mixedDBRef, valueTooLarge
    case belowMinimum, aboveMaximum, notMultipleOf, tooShort, tooLong, patternMismatch, notInEnum, tooFewItems,
        tooManyItems, itemsNotUnique, additionalItem, tooFewProperties, tooManyProperties, dependencyMissing,
        dependencySchema, allOf, anyOf, oneOf, not, encryptMismatch

    /// The public name.
    var code: RuleCode {
        switch self {
        case .requiredMissing: .requiredMissing
        case .requiredMissingDefaulted: .requiredMissingDefaulted
        case .requiredNull: .requiredNull
        case .typeMismatch: .typeMismatch
        case .numericWidthMismatch: .numericWidthMismatch
        case .numericLossy: .numericLossy
        case .nullOptional: .nullOptional
        case .nullID: .nullID
        case .idTypeMismatch: .idTypeMismatch
        case .embeddedNotObject: .embeddedNotObject
        case .arrayNotArray: .arrayNotArray
        case .embeddedRequiredMissing: .embeddedRequiredMissing
        case .embeddedRequiredNull: .embeddedRequiredNull
        case .arrayItemType: .arrayItemType
        case .arrayNested: .arrayNested
        case .arrayItemNull: .arrayItemNull
        case .setDuplicate: .setDuplicate
        case .dictionaryValueType: .dictionaryValueType
        case .dictionaryValueNull: .dictionaryValueNull
        case .dictionaryKey: .dictionaryKey
        case .mixedType: .mixedType
        case .mixedDepth: .mixedDepth
        case .mixedCollection: .mixedCollection
        case .binarySubtype: .binarySubtype
        case .uuidSubtype: .uuidSubtype
        case .undefinedValue: .undefinedValue
        case .geoPoint: .geoPoint
        case .reservedField: .reservedField
        case .extraField: .extraField
        case .additionalProperty: .additionalProperty
        case .partitionMissing: .partitionMissing
        case .partitionType: .partitionType
        case .linkType: .linkType
        case .linkNullItem: .linkNullItem
        case .linkDangling: .linkDangling
        case .linkTargetUnsyncable: .linkTargetUnsyncable
        case .mixedDBRef: .mixedDBRef
        case .valueTooLarge: .valueTooLarge
        case .belowMinimum: .belowMinimum
        case .aboveMaximum: .aboveMaximum
        case .notMultipleOf: .notMultipleOf
        case .tooShort: .tooShort
        case .tooLong: .tooLong
        case .patternMismatch: .patternMismatch
        case .notInEnum: .notInEnum
        case .tooFewItems: .tooFewItems
        case .tooManyItems: .tooManyItems
        case .itemsNotUnique: .itemsNotUnique
        case .additionalItem: .additionalItem
        case .tooFewProperties: .tooFewProperties
        case .tooManyProperties: .tooManyProperties
        case .dependencyMissing: .dependencyMissing
        case .dependencySchema: .dependencySchema
        case .allOf: .allOf
        case .anyOf: .anyOf
        case .oneOf: .oneOf
        case .not: .not
        case .encryptMismatch: .encryptMismatch
        }
    }

    /// What the rule wants, where that is not the type that the schema names.
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
