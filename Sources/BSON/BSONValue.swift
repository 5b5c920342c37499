/// One BSON value, copied out of its document.
public indirect enum BSONValue: Sendable {
    /// A 64-bit IEEE 754 number.
    case double(Double)
    /// Text.
    case string(String)
    /// The bytes of a text that are not UTF-8: kept as they are, as an `_id` is told from another by them.
    case invalidString([UInt8])
    /// An embedded document.
    case object(BSONDocument)
    /// An array, as the document "0", "1", … that it is on the wire.
    case array(BSONDocument)
    /// Bytes with their subtype.
    case binary(subtype: UInt8, bytes: [UInt8])
    /// Deprecated.
    case undefined
    /// An ObjectId.
    case objectID(ObjectID)
    /// True or false.
    case bool(Bool)
    /// Milliseconds since 1970 in UTC.
    case date(milliseconds: Int64)
    /// The null value.
    case null
    /// A regular expression and its options, in alphabetical order.
    case regex(pattern: String, options: String)
    /// Deprecated: a namespace and an ObjectId.
    case dbPointer(String, ObjectID)
    /// JavaScript code.
    case javascript(String)
    /// Deprecated.
    case symbol(String)
    /// Deprecated: JavaScript code and its scope.
    case javascriptWithScope(String, BSONDocument)
    /// A 32-bit integer.
    case int(Int32)
    /// The replication timestamp: seconds in the upper, an ordinal in the lower half.
    case timestamp(UInt64)
    /// A 64-bit integer.
    case long(Int64)
    /// A 128-bit decimal number.
    case decimal(Decimal128)
    /// Sorts before every other value.
    case minKey
    /// Sorts after every other value.
    case maxKey

    /// The value's type.
    public var type: BSONType {
        switch self {
        case .double: .double
        case .string, .invalidString: .string
        case .object: .object
        case .array: .array
        case .binary: .binData
        case .undefined: .undefined
        case .objectID: .objectId
        case .bool: .bool
        case .date: .date
        case .null: .null
        case .regex: .regex
        case .dbPointer: .dbPointer
        case .javascript: .javascript
        case .symbol: .symbol
        case .javascriptWithScope: .javascriptWithScope
        case .int: .int
        case .timestamp: .timestamp
        case .long: .long
        case .decimal: .decimal
        case .minKey: .minKey
        case .maxKey: .maxKey
        }
    }

    /// The integer that an `int`, a `long`, or a `double` without a fraction holds; `nil` for all else.
    ///
    /// Server replies give counts in any of the three.
    public var integer: Int? {
        switch self {
        case .int(let value): Int(value)
        case .long(let value): Int(value)
        case .double(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The text of a `string`, where what is not UTF-8 is replaced; `nil` for all else.
    public var text: String? {
        switch self {
        case .string(let value): value
        case .invalidString(let bytes): String(decoding: bytes, as: UTF8.self)
        default: nil
        }
    }

    /// The document of an `object` or an `array`; `nil` for all else.
    public var document: BSONDocument? {
        switch self {
        case .object(let value), .array(let value): value
        default: nil
        }
    }

    /// The value of a `bool`; `nil` for all else.
    public var isTrue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }
}

extension BSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByNilLiteral
{
    /// A `string`.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An `int` where it fits, else a `long`.
    public init(integerLiteral value: Int) { self = .integer(value) }
    /// A `double`.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A `bool`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An `object`; names keep their order, and may repeat.
    public init(dictionaryLiteral elements: (String, BSONValue)...) { self = .object(BSONDocument(elements)) }
    /// An `array`.
    public init(arrayLiteral elements: BSONValue...) { self = .array(of: elements) }
    /// The `null` value.
    public init(nilLiteral: ()) { self = .null }

    /// An `int` where the number fits, else a `long`.
    public static func integer(_ value: Int) -> BSONValue {
        Int32(exactly: value).map { .int($0) } ?? .long(Int64(value))
    }

    /// An array of these values.
    public static func array(of values: some Sequence<BSONValue>) -> BSONValue {
        var builder = BSONBuilder()
        for (index, value) in values.enumerated() { builder.append(String(index), value) }
        return .array(builder.finish())
    }
}
