import BSON
package import ServerSchema

/// The type of a value, with the distinctions that decide which declared types the value fits.
///
/// Numbers are distinguished by the other numeric types that can hold them, and binary data by its subtype: see
/// `semantics.md` section 5.1 of the project's reference, `numeric-width-mismatch` and `binary-subtype`.
package enum ValueKind: UInt8, Hashable, Sendable, CaseIterable {
    case int
    /// A 64-bit integer that a double can hold exactly.
    case long
    /// A 64-bit integer that no double can hold exactly.
    case longBeyondDouble
    /// A finite double that has a fraction, or is outside the range of 64-bit integers.
    case double
    /// A double that is not a number, or is infinite.
    case nonFiniteDouble
    /// A double that a 64-bit integer can hold exactly.
    case integralDouble
    case decimal, string, bool, date, objectId, uuid
    /// Binary data of subtype 0.
    case binData
    /// Binary data of a subtype other than 0 and 4, or of subtype 4 (UUID) without exactly 16 bytes.
    case otherBinary
    case object, array, null, regex, timestamp, javascript, minKey, maxKey, undefined, dbPointer, symbol,
        javascriptWithScope

    init(_ element: BSONElement, of view: borrowing BSONView) {
        switch element.type.rawValue {
        case 0x01:
            let value = view.double(element)
            self = Int64(exactly: value) != nil ? .integralDouble : value.isFinite ? .double : .nonFiniteDouble
        case 0x02: self = .string
        case 0x03: self = .object
        case 0x04: self = .array
        case 0x05:
            let subtype = view.binarySubtype(element)
            self = subtype == 0 ? .binData : subtype == 4 && view.binaryLength(element) == 16 ? .uuid : .otherBinary
        case 0x06: self = .undefined
        case 0x07: self = .objectId
        case 0x08: self = .bool
        case 0x09: self = .date
        case 0x0A: self = .null
        case 0x0B: self = .regex
        case 0x0C: self = .dbPointer
        case 0x0D: self = .javascript
        case 0x0E: self = .symbol
        case 0x0F: self = .javascriptWithScope
        case 0x10: self = .int
        case 0x11: self = .timestamp
        case 0x12: self = Double(exactly: view.int64(element)) == nil ? .longBeyondDouble : .long
        case 0x13: self = .decimal
        case 0xFF: self = .minKey
        default: self = .maxKey
        }
    }

    /// The name of the type in App Services, or in mongod if App Services does not have the type.
    package var type: SchemaType {
        switch self {
        case .uuid: .uuid
        default: serverType
        }
    }

    /// The name of the type in mongod.
    package var serverType: SchemaType {
        switch self {
        case .int: .int
        case .long, .longBeyondDouble: .long
        case .double, .nonFiniteDouble, .integralDouble: .double
        case .decimal: .decimal
        case .string: .string
        case .bool: .bool
        case .date: .date
        case .objectId: .objectId
        case .uuid, .binData, .otherBinary: .binData
        case .object: .object
        case .array: .array
        case .null: .null
        case .regex: .regex
        case .timestamp: .timestamp
        case .javascript: .javascript
        case .minKey: .minKey
        case .maxKey: .maxKey
        case .undefined: .undefined
        case .dbPointer: .dbPointer
        case .symbol: .symbol
        case .javascriptWithScope: .javascriptWithScope
        }
    }
}
