/// The type of a BSON value, as the byte before the element's name in the BSON format.
///
/// Source: the BSON specification, version 1.1, <https://bsonspec.org/spec.html>.
@frozen
public struct BSONType: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    /// The byte in the BSON format.
    public let rawValue: UInt8

    /// Creates a type from its byte, which may be unknown.
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }
}

extension BSONType {
    /// A 64-bit IEEE 754 number.
    public static let double = Self(rawValue: 0x01)
    /// UTF-8 text.
    public static let string = Self(rawValue: 0x02)
    /// An embedded document.
    public static let object = Self(rawValue: 0x03)
    /// An array, stored as an embedded document with the names "0", "1", ….
    public static let array = Self(rawValue: 0x04)
    /// Bytes with a subtype.
    public static let binData = Self(rawValue: 0x05)
    /// A deprecated type for values that are not defined.
    public static let undefined = Self(rawValue: 0x06)
    /// An ObjectId of twelve bytes.
    public static let objectId = Self(rawValue: 0x07)
    /// True or false.
    public static let bool = Self(rawValue: 0x08)
    /// Milliseconds since 1970 in UTC.
    public static let date = Self(rawValue: 0x09)
    /// The null value.
    public static let null = Self(rawValue: 0x0A)
    /// A regular expression with its options.
    public static let regex = Self(rawValue: 0x0B)
    /// A namespace and an ObjectId; the type is deprecated.
    public static let dbPointer = Self(rawValue: 0x0C)
    /// JavaScript code.
    public static let javascript = Self(rawValue: 0x0D)
    /// A symbol, which is a text; the type is deprecated.
    public static let symbol = Self(rawValue: 0x0E)
    /// JavaScript code with its scope; the type is deprecated.
    public static let javascriptWithScope = Self(rawValue: 0x0F)
    /// A 32-bit integer.
    public static let int = Self(rawValue: 0x10)
    /// A replication timestamp, with seconds and an ordinal.
    public static let timestamp = Self(rawValue: 0x11)
    /// A 64-bit integer.
    public static let long = Self(rawValue: 0x12)
    /// A 128-bit decimal number.
    public static let decimal = Self(rawValue: 0x13)
    /// A value that sorts before every other value.
    public static let minKey = Self(rawValue: 0xFF)
    /// A value that sorts after every other value.
    public static let maxKey = Self(rawValue: 0x7F)
}

extension BSONType: CustomStringConvertible {
    /// MongoDB's name of the type, as in `$type` and `bsonType`; the byte in hex for an unknown type.
    public var description: String {
        switch self {
        case .double: "double"
        case .string: "string"
        case .object: "object"
        case .array: "array"
        case .binData: "binData"
        case .undefined: "undefined"
        case .objectId: "objectId"
        case .bool: "bool"
        case .date: "date"
        case .null: "null"
        case .regex: "regex"
        case .dbPointer: "dbPointer"
        case .javascript: "javascript"
        case .symbol: "symbol"
        case .javascriptWithScope: "javascriptWithScope"
        case .int: "int"
        case .timestamp: "timestamp"
        case .long: "long"
        case .decimal: "decimal"
        case .minKey: "minKey"
        case .maxKey: "maxKey"
        default: "0x" + String(rawValue, radix: 16)
        }
    }

    /// Every type that the specification names.
    public static let all: [BSONType] = [
        .double, .string, .object, .array, .binData, .undefined, .objectId, .bool, .date, .null, .regex, .dbPointer,
        .javascript, .symbol, .javascriptWithScope, .int, .timestamp, .long, .decimal, .minKey, .maxKey,
    ]
}
