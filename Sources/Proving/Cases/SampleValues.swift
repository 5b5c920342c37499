package import BSON

/// The values in generated documents and schemas: values of every type, and values at the limits of a type.
package enum SampleValues {
    static let integers: [BSONValue] = [
        0, 1, 2, 3, 4, 5, 7, 10, 12, 100, -1, -2, -3, .int(.max), .int(.min), .long(0), .long(1), .long(2), .long(3),
        .long(-1), .long(1 << 31), .long(1 << 53), .long((1 << 53) + 1), .long(.max), .long(.min), .long(.max - 1),
    ]
    static let doubles: [BSONValue] =
        [
            0.0, -0.0, 1.0, 2.0, 3.0, -1.0, 0.1, 0.2, 0.3, 0.30000000000000004, 0.5, 1.5, 2.5, 1.1, 19.99, 0.01, 1e15,
            1e16,
            1e22, 1e23, 123456789012345.6, 1e300, .leastNonzeroMagnitude, 1e-7, 1e-10, 4.35, 2.675, 1.0000000000000002,
            0.99999999999999989,
            0.43382500000000104, 0.433825, 2.86102294921875e-06, 9.5367431640625e-07, -0.999786376953125,
            9007199254740993.0, 9.223372036854776e18, -9.223372036854776e18, 1.8446744073709552e19,
        ].map { .double($0) } + [
            .double(.nan), .double(.infinity), .double(-.infinity), .double(.greatestFiniteMagnitude),
        ]
    static let decimals: [BSONValue] = [
        "0", "-0", "0E+10", "1", "1.0", "1.00", "2", "3", "0.1", "0.10", "0.3", "0.5", "1.5", "2.5", "1E+3", "1E+20",
        "1E-3", "-1", "19.99", "0.01", "NaN", "Infinity", "-Infinity", "9.999999999999999999999999999999999E+6144",
        "1E-6176", "1E+6144", "0.1000000000000000055511151231257827", "9007199254740993", "9223372036854775807",
        "9223372036854775808", "123456789012345.6", "1.8446744073709552E+19", "3E+33", "7E+6000",
    ].map(decimal)
    static let strings = [
        "", "a", "b", "ab", "abc", "abcd", "aaaa", "ABC", "1", "12", "123", "é", "日本", "😀", "a\nb", "ab\n", " ",
        "a b", "foo@bar.com", "x-1", "2024-01-02", "\u{301}", "a.b", "$a", "_", "tab\t", "null", "é1",
    ]

    package static func decimal(_ text: String) -> BSONValue {
        guard let number = Decimal128(text) else { preconditionFailure("\(text) is a decimal") }
        return .decimal(number)
    }

    /// Returns a value of this type; `nil` for `object`, `array` and unknown types.
    static func scalar(of type: String, using random: inout Randomness) -> BSONValue? {
        switch type {
        case "double": random.pick(doubles)
        case "string": .string(random.pick(strings))
        case "binData": random.pick(binaries)
        case "undefined": .undefined
        case "objectId": .objectID(ObjectID(high: UInt64(random.below(3)), low: 7))
        case "bool", "boolean": .bool(random.percent(50))
        case "date": .date(milliseconds: random.pick([0, 1, -1, 1_700_000_000_000]))
        case "null": .null
        case "regex": .regex(pattern: random.pick(patterns).text, options: random.pick(["", "", "i"]))
        case "dbPointer": .dbPointer("a.b", ObjectID(high: 1, low: UInt32(random.below(2))))
        case "javascript": .javascript(random.pick(["f()", "g()"]))
        case "symbol": .symbol(random.pick(strings))
        case "javascriptWithScope":
            .javascriptWithScope(
                "f()", random.pick([["a": 1], ["a": 1.0], ["a": 2], ["a": 1, "b": 2], ["b": 2, "a": 1]]))
        case "int": .int(Int32(truncatingIfNeeded: random.pick([-1, 0, 1, 2, 3, 5, 6, 10, 12, 100, .max])))
        case "timestamp": .timestamp(UInt64(1 + random.below(2)))
        case "long": .long(random.pick([-1, 0, 1, 2, 3, 10, 1 << 31, 1 << 53, (1 << 53) + 1, .max, .min]))
        case "decimal": random.pick(decimals)
        case "minKey": .minKey
        case "maxKey": .maxKey
        case "number": random.pick(random.pick([integers, doubles, decimals]))
        default: nil
        }
    }

    static let types = [
        "double", "string", "object", "array", "binData", "undefined", "objectId", "bool", "date", "null", "regex",
        "dbPointer", "javascript", "symbol", "javascriptWithScope", "int", "timestamp", "long", "decimal", "minKey",
        "maxKey", "number",
    ]
    /// The types that most values in documents have.
    static let commonTypes = [
        "double", "string", "object", "array", "bool", "null", "int", "long", "decimal", "number",
    ]

    private static let binaries: [BSONValue] = [
        .binary(subtype: 0, bytes: []), .binary(subtype: 0, bytes: [1, 2]),
        .binary(subtype: 4, bytes: .init(repeating: 7, count: 16)),
        .binary(subtype: 3, bytes: .init(repeating: 7, count: 16)), .binary(subtype: 5, bytes: [1, 2]),
        .binary(subtype: 6, bytes: []), .binary(subtype: 6, bytes: [1]), encrypted(algorithm: 1, type: 2),
        encrypted(algorithm: 2, type: 16), encrypted(algorithm: 1, type: 16), encrypted(algorithm: 0, type: 16),
        encrypted(algorithm: 5, type: 2), encrypted(algorithm: 1, type: 255),
    ]

    private static func encrypted(algorithm: UInt8, type: UInt8) -> BSONValue {
        .binary(subtype: 6, bytes: [algorithm] + .init(repeating: 9, count: 16) + [type, 1, 2, 3])
    }

    /// Regular expressions, each with a text that matches it.
    static let patterns: [(text: String, match: String)] = [
        ("", ""), ("a", "xay"), ("^a", "ab"), ("b$", "ab"), ("^a.c$", "abc"), ("^.$", "é"), ("^..$", "ab"),
        ("\\d+", "a12"), ("^\\w+$", "ab_1"), ("\\s", "a b"), ("(?i)abc", "xABC"), ("^[a-z]{2,3}$", "abc"),
        ("^[^@]+@[^@]+$", "a@b"), ("^(?:a|b)*$", "abab"), ("(a)(b)?\\1", "aa"), ("^\\p{L}+$", "é"), ("日", "日本"),
        ("^\\x{1F600}$", "😀"), ("^[\\w-.]+$", "a-.b"), ("^\\i$", "i"), ("(?<=a)b", "ab"), ("(?!a)b", "b"),
        ("a{2}", "aa"), ("^\\d{4}-\\d\\d-\\d\\d$", "2024-01-02"), ("a\\.b", "a.b"), ("^\\$", "$a"), ("\\Aab\\z", "ab"),
        ("ab\\Z", "ab\n"), ("(?m)^b", "a\nb"), ("(?s)a.b", "a\nb"), ("(?x) a b ", "ab"), ("[[:alpha:]]1", "a1"),
        ("\\bfoo\\b", "foo"), ("^\\X$", "\u{301}"), ("a\\Rb", "a\nb"),
        ("^[\\k\\z]$", "k"), ("(*UTF8)(*UCP)^\\w+$", "é1"), ("^(?:a|b)*$", longText),
        // mongod puts each pattern into a group. It refuses these two patterns, because they make the end of the group
        // ineffective.
        ("\\Qa", "a"), ("(?x)a #b", "a"),
    ]

    /// A text of many `ab`, one `ab` shorter than the longest text that mongod still matches with `^(?:a|b)*$`.
    private static let longText = String(repeating: "ab", count: 999)
}
