import BSON

/// A violation in a compact form of a few bytes, from which the checker later makes the text for a report.
///
/// The schema node determines the path. The node and the rule together determine which value was expected.
struct Finding: Hashable, Sendable, BitwiseCopyable {
    var rule: Rule
    var level: Level
    /// The number of the node to which the finding belongs.
    ///
    /// The nodes of the schema are numbered first, then the nodes of its constraints, and then the nodes of the sync
    /// engine.
    var node: Int32
    var found: Found

    init(_ rule: Rule, _ level: Level, node: Int, _ found: Found) {
        self.rule = rule
        self.level = level
        self.node = Int32(truncatingIfNeeded: node)
        self.found = found
    }
}

/// The value that was found, described by its type and, where the type does not say enough, by a detail.
///
/// The description never holds the value itself.
struct Found: Hashable, Sendable, BitwiseCopyable {
    /// A detail of the value that its type alone does not show.
    enum Detail: UInt8, Hashable, Sendable, BitwiseCopyable {
        case none, missing, unusableDefault
        case exact, fraction, notANumber, infinity, beyondInt32, beyondInt64, inexact
        case sixteenBytes, otherLength
        case emptyKey, dollarKey, dottedKey
        case equalElements, tooDeep
        case noneFits, severalFit
        case noMember
        case noCoordinates, fewCoordinates, coordinateType, coordinateRange
        case unsyncedReference, referenceIDType, tooLarge
        case nestedDeeper, dateOutOfRange, numberOutOfRange, number, notNumber, exponent
        case noObjectID, increment
        case longer, larger, largerAsJSON, moreFields, equalText, unfit
        case equalKey, noKey, severalArrays
        case wrongLength, unreadable, falsy, invalidText, invalidName, repeatedName, prototypeName
    }

    var type: BSONType
    var detail: Detail
    /// The subtype of binary data; 0 for other types.
    var subtype: UInt8

    init(_ type: BSONType, _ detail: Detail = .none, subtype: UInt8 = 0) {
        self.type = type
        self.detail = detail
        self.subtype = subtype
    }

    static let missing = Found(.undefined, .missing)

    /// The type of the value; `nil` if the value is missing.
    var presentType: BSONType? { Self.absent.contains(detail) ? nil : type }

    private static let absent: Set<Detail> = [.missing, .unusableDefault, .equalKey, .noKey, .severalArrays]
}

extension Found: CustomStringConvertible {
    var description: String {
        switch detail {
        case .none: "\(type)"
        case .missing: "missing"
        case .unusableDefault: "missing, and its default is of type \(type)"
        case .exact: "\(type), exactly representable"
        case .fraction: "\(type) with a fraction"
        case .notANumber: "\(type) NaN"
        case .infinity: "\(type) infinity"
        case .beyondInt32: "\(type) beyond 32 bits"
        case .beyondInt64: "\(type) beyond 64 bits"
        case .inexact: "\(type) that a double cannot hold"
        case .sixteenBytes: "binData of subtype \(subtype), 16 bytes"
        case .otherLength: "binData of subtype \(subtype), not 16 bytes"
        case .emptyKey: "empty key"
        case .dollarKey: "key with a leading $"
        case .dottedKey: "key with a dot"
        case .equalElements: "equal elements"
        case .tooDeep: "more than 100 levels"
        case .noneFits: "\(type) that fits none"
        case .severalFit: "\(type) that fits several"
        case .noMember: "other \(type)"
        case .noCoordinates: "no coordinates"
        case .fewCoordinates: "fewer than two coordinates"
        case .coordinateType: "coordinate that is not a double"
        case .coordinateRange: "coordinate out of range"
        case .unsyncedReference: "DBRef to a collection that does not sync"
        case .referenceIDType: "DBRef whose $id is \(type)"
        case .tooLarge: "\(type) over 16 MB"
        case .nestedDeeper: "\(type) with more levels"
        case .dateOutOfRange: "\(type) out of range"
        case .numberOutOfRange: "\(type) out of range"
        case .number: "\(type) that is a number"
        case .notNumber: "\(type) that is no such number"
        case .exponent: "\(type) whose text is cut off before its exponent"
        case .noObjectID: "other \(type)"
        case .increment: "\(type) with an increment"
        case .longer: "\(type) that is longer"
        case .larger: "\(type) in a larger document"
        case .largerAsJSON: "\(type) in a document that is larger as JSON"
        case .moreFields: "more fields"
        case .equalText: "\(type) with the text of another _id"
        case .equalKey: "repeated value"
        case .noKey: "null or missing, as in another document"
        case .severalArrays: "several arrays, which no index accepts"
        case .unfit: "document that does not fit"
        case .wrongLength: "\(type) of subtype 2 with a wrong length inside"
        case .unreadable: "\(type) that js-bson does not read or write"
        case .falsy: "\(type) that JavaScript takes for false"
        case .invalidText: "\(type) that is not UTF-8"
        case .invalidName: "\(type) under a name that is not UTF-8"
        case .repeatedName: "\(type) under a name that occurs again"
        case .prototypeName: "\(type) under __proto__"
        }
    }
}
