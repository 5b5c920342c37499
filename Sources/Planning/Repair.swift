import Checking

/// The way in which `plan SCHEMA` repairs the documents that break a rule.
enum Repair: Hashable {
    /// A step converts the value, or wraps or unwraps it, as for a change of the field's type.
    case conversion
    /// A step fills a required field that is missing or null, or removes an optional field that is null.
    case presence
    /// A step removes the nulls of a list or a dictionary.
    case nullRemoval
    /// A step removes each list element that equals an earlier element of the list.
    case deduplication
    /// A step removes the field, and a reviewer has to confirm that.
    case fieldRemoval
    /// No step is planned, because the user has to choose the values; the text says why, and what to do.
    case decision(String)
    /// The documents sync as they are; the text says why they need no step.
    case unneeded(String)

    /// The reason why no step repairs an `_id`, or a part of it.
    static let ofID = "an _id cannot be changed in place: insert the document again under another _id"

    /// Creates the repair for a rule; `nil` for a rule that this version does not know.
    init?(of code: RuleCode) {
        switch code.rule {
        case .typeMismatch, .numericWidthMismatch, .embeddedNotObject, .arrayNotArray, .arrayItemType,
            .dictionaryValueType, .linkType, .partitionType, .uuidSubtype, .storedType:
            self = .conversion
        case .requiredMissing, .requiredNull, .embeddedRequiredMissing, .embeddedRequiredNull, .partitionMissing,
            .nullOptional, .undefinedValue:
            self = .presence
        case .arrayItemNull, .dictionaryValueNull, .linkNullItem: self = .nullRemoval
        case .setDuplicate, .itemsNotUnique: self = .deduplication
        case .additionalProperty: self = .fieldRemoval
        case .uniqueDuplicate, .uniqueNull, .uniqueArrays:
            self = .decision("only you know which document keeps the value of the unique index")
        case .numericLossy:
            self = .decision("the declared type cannot hold these numbers: correct them, or let a step round them")
        case .arrayNested:
            self = .decision("no step knows how to flatten these lists: write an \"expression\" step of your own")
        case .nullID, .idTypeMismatch: self = .decision(Self.ofID)
        case .binarySubtype:
            self = .decision("no step changes the subtype of binary data: let your application write it as subtype 0")
        case .belowMinimum, .aboveMaximum:
            self = .decision("a step can write the limit instead, but only you know whether that is the right number")
        case .tooLong, .tooManyItems, .additionalItem:
            self = .decision("a step can cut off the end, but only you know whether nothing is lost by that")
        case .notInEnum: self = .decision("only you know which of the allowed values replaces each of these")
        case .notMultipleOf, .tooShort, .patternMismatch, .tooFewItems:
            self = .decision("no step can choose values that fit: correct them, or write an \"expression\" step")
        case .tooFewProperties, .tooManyProperties:
            self = .decision("only you know which fields to add or to remove: write \"default\" or \"unset\" steps")
        case .dependencyMissing:
            self = .decision(
                "only documents with the other field need this one: write a \"default\" step with a \"where\"")
        case .dependencySchema, .allOf:
            self = .decision("the findings inside say what does not fit: repair those first")
        case .anyOf, .oneOf, .not:
            self = .decision("the schema allows several repairs: correct the values, or write an \"expression\" step")
        case .encryptMismatch: self = .decision("only a client with the keys can write encrypted values")
        case .dictionaryKey:
            self = .decision("no step renames the keys of a dictionary: let the program that writes them rename them")
        case .mixedType, .mixedDBRef:
            self = .decision("only you know what replaces these values: correct or remove them")
        case .mixedDepth: self = .decision("no step knows how to flatten these values: store them another way")
        case .mixedCollection:
            self = .decision("this app allows no lists or objects in mixed values: store them in another field")
        case .geoPoint: self = .decision("only you know the right coordinates: correct them")
        case .valueTooLarge: self = .decision("no step makes a value smaller: store it elsewhere")
        case .requiredMissingDefaulted, .requiredNullDefaulted:
            self = .unneeded("clients get the schema's default in place of the field")
        case .malformedObjectID:
            self = .decision("no ObjectId can be made of these values: only you know which one replaces each of them")
        case .reservedField:
            self = .unneeded("a write is in progress; shipshape backfill --unset-locks removes a lock that was left")
        case .extraField: self = .unneeded("sync ignores the field")
        case .linkDangling, .linkTargetUnsyncable: self = .unneeded("the document syncs, and clients see null")
        default:
            guard let engine = EngineRule.named(code) else { return nil }
            self = .decision("only you can decide how to change these: \(engine.remedy)")
        }
    }
}
