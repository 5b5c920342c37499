import BSON
import ServerSchema

/// A set of BSON types, stored as a mask with one bit for each type.
package struct TypeMask: OptionSet, Hashable, Sendable, BitwiseCopyable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Creates the set of one type; the type bytes of the BSON specification are 1 to 19, 0xFF and 0x7F.
    @inline(__always)
    init(_ type: BSONType) {
        let byte = type.rawValue
        rawValue = 1 &<< UInt32(byte <= 19 ? byte : byte == 0xFF ? 20 : 21)
    }

    // The masks are literals, because the checker compares every element with them. A constant of another module would
    // cost a function call each time.
    static var double: Self { Self(rawValue: 1 << 1) }
    static var string: Self { Self(rawValue: 1 << 2) }
    static var object: Self { Self(rawValue: 1 << 3) }
    static var array: Self { Self(rawValue: 1 << 4) }
    static var binData: Self { Self(rawValue: 1 << 5) }
    static var undefined: Self { Self(rawValue: 1 << 6) }
    static var objectId: Self { Self(rawValue: 1 << 7) }
    static var bool: Self { Self(rawValue: 1 << 8) }
    static var date: Self { Self(rawValue: 1 << 9) }
    static var null: Self { Self(rawValue: 1 << 10) }
    static var regex: Self { Self(rawValue: 1 << 11) }
    static var dbPointer: Self { Self(rawValue: 1 << 12) }
    static var javascript: Self { Self(rawValue: 1 << 13) }
    static var symbol: Self { Self(rawValue: 1 << 14) }
    static var javascriptWithScope: Self { Self(rawValue: 1 << 15) }
    static var int: Self { Self(rawValue: 1 << 16) }
    static var timestamp: Self { Self(rawValue: 1 << 17) }
    static var long: Self { Self(rawValue: 1 << 18) }
    static var decimal: Self { Self(rawValue: 1 << 19) }
    static var minKey: Self { Self(rawValue: 1 << 20) }
    static var maxKey: Self { Self(rawValue: 1 << 21) }
    static var all: Self { Self(rawValue: (1 << 22) - 2) }
    static var integers: Self { [.int, .long] }
    static var numbers: Self { [.int, .long, .double, .decimal] }
    /// The types, without null, that a `mixed` value may have and whose values need no further check.
    static var mixedScalars: Self { [.numbers, .string, .objectId, .bool, .date] }
    /// The types whose values contain text; the text of names inside objects is not meant.
    static var texts: Self { [.string, .symbol, .javascript, .javascriptWithScope, .dbPointer, .regex] }
    static var deprecated: Self { [.undefined, .dbPointer, .symbol, .javascriptWithScope] }
}

extension TypeMask {
    /// Creates the set of the types that a type name of a schema means; empty for `mixed`, which the checker handles
    /// separately.
    init(_ alias: SchemaType) {
        switch alias {
        case .uuid: self = .binData
        case .number: self = .numbers
        case .mixed: self = []
        default: self = Self.byName[alias.rawValue] ?? []
        }
    }

    private static let byName = Dictionary(uniqueKeysWithValues: BSONType.all.map { ("\($0)", Self($0)) })
}
