import BSON

/// A generator of small documents with nested values of all types; the same seed gives the same documents.
///
/// Names, texts and numbers come from small sets, so that two documents often have parts in common.
struct DocumentGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// Returns a document of 50 to 300 bytes.
    mutating func smallDocument() -> BSONDocument {
        while true {
            let document = document(levels: 4)
            if (50...300).contains(document.bytes.count) { return document }
        }
    }

    /// Returns a document with up to `levels` + 1 elements, whose values are nested up to `levels` deep.
    mutating func document(levels: Int) -> BSONDocument {
        var builder = BSONBuilder()
        for _ in 0...below(levels + 1) { builder.append(pick(["", "a", "b", "ab", "é"]), value(levels: levels)) }
        return builder.finish()
    }

    /// Returns a value of any type; an object or an array only if `levels` is above 0.
    mutating func value(levels: Int) -> BSONValue {
        switch below(levels > 0 ? 24 : 19) {
        case 0: .double(pick(Self.doubles))
        case 1: .string(text())
        case 2: .binary(subtype: pick([0, 2, 3, 4, 0x80]), bytes: bytes())
        case 3: .undefined
        case 4: .objectID(ObjectID(high: pick([0, 1, .max]), low: pick([0, 1, .max])))
        case 5: .bool(pick([false, true]))
        case 6: .date(milliseconds: pick([0, -1, .min, .max, 1_700_000_000_000]))
        case 7: .null
        case 8: .regex(pattern: pick(["", "a", "ab"]), options: pick(["", "i", "im"]))
        case 9: .dbPointer(pick(["", "d.c", "d.cc"]), ObjectID(high: pick([0, .max]), low: 1))
        case 10: .javascript(code())
        case 11: .symbol(text())
        case 12: .int(pick([0, 1, -1, .min, .max]))
        case 13: .timestamp(pick([0, 1, 1 << 32, .max]))
        case 14: .long(pick(Self.longs))
        case 15: .decimal(pick(Self.decimals))
        case 16: .minKey
        case 17: .maxKey
        case 18: .javascriptWithScope(code(), levels > 0 ? document(levels: levels - 1) : [:])
        case 19, 20, 21: .object(document(levels: levels - 1))
        default: .array(of: (0..<below(4)).map { _ in value(levels: levels - 1) })
        }
    }

    /// Returns a number from 0 to `bound` - 1 (SplitMix64).
    mutating func below(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((bits ^ bits >> 31) % UInt64(bound))
    }

    private mutating func pick<Element>(_ pool: [Element]) -> Element { pool[below(pool.count)] }

    private mutating func text() -> String { pick(["", "a", "ab", "b", "a\u{0}", "a\u{0}b", "é", "\u{FFFF}", "𝄞"]) }

    /// Returns a text without NUL: when libbson reads JavaScript code from JSON, it cuts the code off at a NUL.
    private mutating func code() -> String { pick(["", "a", "ab", "é"]) }

    private mutating func bytes() -> [UInt8] { (0..<below(6)).map { _ in pick([0, 1, 0x7F, 0x80, 0xFF]) } }

    static let doubles: [Double] = [
        0, -0.0, 0.1, -0.1, 0.5, 1, -1, 1.5, 0x1p53, 0x1p53 + 2, 0x1p63, -0x1p63, 0x1p64, 1e22, 1e23, 1e308,
        .leastNonzeroMagnitude, .greatestFiniteMagnitude, .nan, .infinity, -.infinity,
    ]
    static let longs: [Int64] = [0, 1, -1, .min, .min + 1, .max, .max - 1, 1 << 53, 1 << 53 + 1, 1 << 53 + 2, 1 << 40]
    static let decimals: [Decimal128] =
        [
            "0", "-0", "0E+6111", "0E-6176", "0.1", "0.10", "-0.1", "0.1000000000000000055511151231257827",
            "0.1000000000000000055511151231257828", "0.5", "1", "1.000", "-1", "9223372036854775807",
            "9223372036854775807.5", "9223372036854775808", "-9223372036854775808", "9007199254740993", "1E+22",
            "1E+23",
            "99999999999999991611392", "1E+308", "1E-6176", "4.940656458412465441765687928682214E-324", "NaN",
            "Infinity",
            "-Infinity", "1E+6111", "9.999999999999999999999999999999999E+6144",
        ].compactMap { Decimal128($0) } + [Decimal128(high: 0x7000_0000_0000_0000, low: 1)]
}
