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
    @inlinable public static var double: Self { Self(rawValue: 0x01) }
    /// UTF-8 text.
    @inlinable public static var string: Self { Self(rawValue: 0x02) }
    /// An embedded document.
    @inlinable public static var object: Self { Self(rawValue: 0x03) }
    /// An array, stored as an embedded document with the names "0", "1", ….
    @inlinable public static var array: Self { Self(rawValue: 0x04) }
    /// Bytes with a subtype.
    @inlinable public static var binData: Self { Self(rawValue: 0x05) }
    /// A deprecated type for values that are not defined.
    @inlinable public static var undefined: Self { Self(rawValue: 0x06) }
    /// An ObjectId of twelve bytes.
    @inlinable public static var objectId: Self { Self(rawValue: 0x07) }
    /// True or false.
    @inlinable public static var bool: Self { Self(rawValue: 0x08) }
    /// Milliseconds since 1970 in UTC.
    @inlinable public static var date: Self { Self(rawValue: 0x09) }
    /// The null value.
    @inlinable public static var null: Self { Self(rawValue: 0x0A) }
    /// A regular expression with its options.
    @inlinable public static var regex: Self { Self(rawValue: 0x0B) }
    /// A namespace and an ObjectId; the type is deprecated.
    @inlinable public static var dbPointer: Self { Self(rawValue: 0x0C) }
    /// JavaScript code.
    @inlinable public static var javascript: Self { Self(rawValue: 0x0D) }
    /// A symbol, which is a text; the type is deprecated.
    @inlinable public static var symbol: Self { Self(rawValue: 0x0E) }
    /// JavaScript code with its scope; the type is deprecated.
    @inlinable public static var javascriptWithScope: Self { Self(rawValue: 0x0F) }
    /// A 32-bit integer.
    @inlinable public static var int: Self { Self(rawValue: 0x10) }
    /// A replication timestamp, with seconds and an ordinal.
    @inlinable public static var timestamp: Self { Self(rawValue: 0x11) }
    /// A 64-bit integer.
    @inlinable public static var long: Self { Self(rawValue: 0x12) }
    /// A 128-bit decimal number.
    @inlinable public static var decimal: Self { Self(rawValue: 0x13) }
    /// A value that sorts before every other value.
    @inlinable public static var minKey: Self { Self(rawValue: 0xFF) }
    /// A value that sorts after every other value.
    @inlinable public static var maxKey: Self { Self(rawValue: 0x7F) }
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
