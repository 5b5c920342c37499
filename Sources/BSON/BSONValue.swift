/// One BSON value, as a copy that does not depend on its document.
public indirect enum BSONValue: Sendable {
    /// A 64-bit IEEE 754 number.
    case double(Double)
    /// UTF-8 text.
    case string(String)
    /// The bytes of a string that is not UTF-8.
    ///
    /// They are kept unchanged, because two `_id`s may differ only in such bytes.
    case invalidString([UInt8])
    /// An embedded document.
    case object(BSONDocument)
    /// An array, stored as a document with the names "0", "1", ….
    case array(BSONDocument)
    /// Bytes with their subtype.
    case binary(subtype: UInt8, bytes: [UInt8])
    /// The deprecated value `undefined`.
    case undefined
    /// An ObjectId.
    case objectID(ObjectID)
    /// True or false.
    case bool(Bool)
    /// Milliseconds since 1970 in UTC.
    case date(milliseconds: Int64)
    /// The null value.
    case null
    /// A regular expression and its options, which are sorted alphabetically.
    case regex(pattern: String, options: String)
    /// A namespace and an ObjectId; the type is deprecated.
    case dbPointer(String, ObjectID)
    /// JavaScript code.
    case javascript(String)
    /// A text of the deprecated type `symbol`.
    case symbol(String)
    /// JavaScript code with its scope; the type is deprecated.
    case javascriptWithScope(String, BSONDocument)
    /// A 32-bit integer.
    case int(Int32)
    /// A replication timestamp, with seconds in the upper half and an ordinal in the lower half.
    case timestamp(UInt64)
    /// A 64-bit integer.
    case long(Int64)
    /// A 128-bit decimal number.
    case decimal(Decimal128)
    /// A value that sorts before every other value.
    case minKey
    /// A value that sorts after every other value.
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

    /// The integer in an `int`, a `long`, or a `double` without a fraction; `nil` for other values.
    ///
    /// Server replies use all three types for counts.
    public var integer: Int? {
        switch self {
        case .int(let value): Int(value)
        case .long(let value): Int(value)
        case .double(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The text of a `string`, in which bytes that are not UTF-8 are replaced; `nil` for other types.
    public var text: String? {
        switch self {
        case .string(let value): value
        case .invalidString(let bytes): String(decoding: bytes, as: UTF8.self)
        default: nil
        }
    }

    /// The document of an `object` or an `array`; `nil` for other types.
    public var document: BSONDocument? {
        switch self {
        case .object(let value), .array(let value): value
        default: nil
        }
    }

    /// The value of a `bool`; `nil` for other types.
    public var isTrue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }
}

extension BSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral, ExpressibleByNilLiteral
{
    /// Creates a `string`.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an `int` if the number fits, otherwise a `long`.
    public init(integerLiteral value: Int) { self = .integer(value) }
    /// Creates a `double`.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Creates a `bool`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates an `object`; names keep their order, and may repeat.
    public init(dictionaryLiteral elements: (String, BSONValue)...) { self = .object(BSONDocument(elements)) }
    /// Creates an `array`.
    public init(arrayLiteral elements: BSONValue...) { self = .array(of: elements) }
    /// Creates the `null` value.
    public init(nilLiteral: ()) { self = .null }

    /// Returns an `int` if the number fits, otherwise a `long`.
    public static func integer(_ value: Int) -> BSONValue {
        Int32(exactly: value).map { .int($0) } ?? .long(Int64(value))
    }

    /// Returns a BSON array of the given values.
    public static func array(of values: [BSONValue]) -> BSONValue {
        var builder = BSONBuilder()
        for index in values.indices { builder.append(index: index, values[index]) }
        return .array(builder.finish())
    }
}

extension BSONValue: Hashable {
    /// Whether two values have the same type and are equal.
    ///
    /// NaN equals NaN, because the server accepts NaN only once as an `_id`, and NaN must be found in a set of `_id`s.
    /// Texts of all types are compared by their bytes, as on the server. An é that is stored as one character and an é
    /// that is stored as e and an accent are two different `_id`s.
    public static func == (left: BSONValue, right: BSONValue) -> Bool {
        switch (left, right) {
        case (.double(let one), .double(let two)): one == two || (one.isNaN && two.isNaN)
        case (.string(let one), .string(let two)): one.hasSameBytes(as: two)
        case (.invalidString(let one), .invalidString(let two)): one == two
        case (.object(let one), .object(let two)): one == two
        case (.array(let one), .array(let two)): one == two
        case (.binary(let one, let bytes), .binary(let two, let others)): one == two && bytes == others
        case (.objectID(let one), .objectID(let two)): one == two
        case (.bool(let one), .bool(let two)): one == two
        case (.date(let one), .date(let two)): one == two
        case (.regex(let one, let options), .regex(let two, let others)):
            one.hasSameBytes(as: two) && options.hasSameBytes(as: others)
        case (.dbPointer(let one, let id), .dbPointer(let two, let other)): one.hasSameBytes(as: two) && id == other
        case (.javascript(let one), .javascript(let two)): one.hasSameBytes(as: two)
        case (.symbol(let one), .symbol(let two)): one.hasSameBytes(as: two)
        case (.javascriptWithScope(let one, let scope), .javascriptWithScope(let two, let other)):
            one.hasSameBytes(as: two) && scope == other
        case (.int(let one), .int(let two)): one == two
        case (.timestamp(let one), .timestamp(let two)): one == two
        case (.long(let one), .long(let two)): one == two
        case (.decimal(let one), .decimal(let two)): one == two
        case (.undefined, .undefined), (.null, .null), (.minKey, .minKey), (.maxKey, .maxKey): true
        default: false
        }
    }

    /// Hashes the type and the content, except options, scopes, subtypes and the ids of DBPointers, which are rare.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(type)
        switch self {
        case .double(let number): hasher.combine(number.isNaN ? .nan : number)
        case .string(let text), .javascript(let text), .symbol(let text), .regex(let text, _), .dbPointer(let text, _),
            .javascriptWithScope(let text, _):
            for byte in text.utf8 { hasher.combine(byte) }
        case .object(let document), .array(let document): hasher.combine(document)
        case .binary(_, let bytes), .invalidString(let bytes): hasher.combine(bytes)
        case .objectID(let id): hasher.combine(id)
        case .bool(let value): hasher.combine(value)
        case .date(let number), .long(let number): hasher.combine(number)
        case .int(let number): hasher.combine(number)
        case .timestamp(let number): hasher.combine(number)
        case .decimal(let number): hasher.combine(number)
        case .undefined, .null, .minKey, .maxKey: break
        }
    }
}

extension String {
    fileprivate func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension BSONValue {
    /// Whether two values have the same type and bytes, so that NaN is the same as NaN, but 1 is not the same as 1.0.
    public func hasSameBytes(as other: BSONValue) -> Bool { BSONDocument([("", self)]) == BSONDocument([("", other)]) }

    /// Compares two values in mongod's sort order; see ``BSONOrder/compare(_:_:)``.
    public func compared(to other: BSONValue) -> BSONOrder { BSONOrder.compare(self, other) }

    /// Whether two values are equal in `$jsonSchema`, which ignores the order of an object's fields and the types of
    /// numbers.
    /// - Throws: the same errors as ``BSONView/isEqual(_:to:of:)``.
    public func isEqualIgnoringFieldOrder(_ other: BSONValue) throws(BSONError) -> Bool {
        let (left, right) = (BSONDocument([("", self)]), BSONDocument([("", other)]))
        return try left.view.hasEqualFields(to: right.view)
    }
}

extension BSONValue {
    /// The number of bytes of the value in a document, without its type and its name.
    package var byteCount: Int {
        switch self {
        case .undefined, .null, .minKey, .maxKey: 0
        case .bool: 1
        case .int: 4
        case .double, .date, .timestamp, .long: 8
        case .objectID: 12
        case .decimal: 16
        case .string(let text), .javascript(let text), .symbol(let text): text.utf8.count + 5
        case .invalidString(let bytes): bytes.count + 5
        case .object(let document), .array(let document): document.bytes.count
        case .binary(_, let bytes): bytes.count + 5
        case .regex(let pattern, let options): pattern.utf8.count + options.utf8.count + 2
        case .dbPointer(let text, _): text.utf8.count + 5 + 12
        case .javascriptWithScope(let code, let scope): 4 + code.utf8.count + 5 + scope.bytes.count
        }
    }
}
