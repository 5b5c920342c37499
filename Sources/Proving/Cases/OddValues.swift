package import BSON

/// A value that a step may find in a collection, with a name.
package struct OddValue: Sendable {
    package let name: String
    /// The value, or `nil` if the field is missing.
    package let value: BSONValue?

    /// Names a value; `nil` is a missing field.
    package init(_ name: String, _ value: BSONValue?) {
        self.name = name
        self.value = value
    }
}

/// Values of every kind that a step may find in a document.
package enum OddValues {
    package static let all =
        [OddValue("missing", nil)] + everyType + numbers + decimals + dates + texts + containers

    /// Values of the BSON types other than numbers, dates, texts, objects and arrays.
    package static let everyType: [OddValue] = [
        OddValue("null", .null), OddValue("undefined", .undefined), OddValue("minKey", .minKey),
        OddValue("maxKey", .maxKey), OddValue("bool true", true), OddValue("bool false", false),
        OddValue("objectId", .objectID(ObjectID(high: 0x0123_4567_89AB_CDEF, low: 0x0123_4567))),
        OddValue("timestamp", .timestamp(0x5_0000_0005)), OddValue("empty timestamp", .timestamp(0)),
        OddValue("uuid", .binary(subtype: 4, bytes: Array(0..<16))),
        OddValue("empty binary", .binary(subtype: 0, bytes: [])),
        OddValue("old binary", .binary(subtype: 2, bytes: [2, 0, 0, 0, 7, 8])),
        OddValue("regex", .regex(pattern: "^a.$", options: "im")), OddValue("javascript", .javascript("f()")),
        OddValue("javascriptWithScope", .javascriptWithScope("g()", ["y": 2, "z": 1.0])),
        OddValue("symbol", .symbol("true")), OddValue("dbPointer", .dbPointer("db.c", ObjectID(high: 1, low: 2))),
    ]

    package static let numbers: [OddValue] =
        [0, 1, -1, 2, 36, 1_000_000, .max, .min].map { OddValue("int \($0)", .int($0)) }
        + [0, 1, 2, 36, 1 << 31, 1 << 53, 1 << 53 + 1, 253_402_300_800_000, .max, .min].map {
            OddValue("long \($0)", .long($0))
        }
        + [
            0, -0.0, 1, 2, 0.1, 0.1 + 0.2, 1.5, 3.5, 36, 52.370216, 123_456_789.123, 1e6, 1_234_567, 0x1p53, 0x1p63,
            -0x1p63, 1e-7, 1.25e-7, 1e16, 1e21, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity,
            -.infinity, .nan,
            1_577_836_800_000, 2_147_483_648,
        ].map { OddValue("double \($0)", .double($0)) }

    package static let decimals: [OddValue] = [
        "0", "-0", "-0E+3", "0E+3", "0.00", "1", "1.0", "1.50", "-1.5", "5.00", "36", "0.1", "0.30000000000000004",
        "1E+3", "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808",
        "1.234567890123456789012345678901234", "9999999999999999999999999999999999", "1E+400", "1E-400", "1E+6144",
        "1E-6176", "NaN", "Infinity", "-Infinity",
    ].compactMap { text in Decimal128(text).map { OddValue("decimal \(text)", .decimal($0)) } }

    package static let dates: [OddValue] = [
        0, -1, 1_577_836_800_000, 253_402_300_799_999, 253_402_300_800_000, -62_167_219_200_000, -62_167_219_200_001,
        1 << 53 + 1, .max, .min,
    ].map { OddValue("date \($0)", .date(milliseconds: $0)) }

    package static let texts: [OddValue] =
        [
            "", "true", "false", "1", "0", "yes", "no", "TRUE", "False", " true", " 36", "36", "+36", "036", "36 ",
            "-0", "-0.0", "1e3", "1E+3", "0x10", "NaN", "nan", "Infinity", "inf", "-Infinity", "1.5", "1.50", "0.1",
            "52.370216", "1234567", "0.30000000000000004", "2147483648", "9223372036854775807", "9223372036854775808",
            "1.234567890123456789012345678901234", "11111111111111111111111111111111111", "1e400", "1E+400", "1E-6176",
            "0123456789abcdef01234567", "0123456789ABCDEF01234567", "0123456789abcdef0123456", "$email", "12\u{0}",
            "日本語", "2020-01-01", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00.000Z", "2020-01-01T12:30:45.678Z",
            "2020-01-01T12:30:45Z", "2020-01-01T12:30:45.6Z", "2020-01-01t00:00:00z", "2020-01-01 00:00:00",
            "2020-01-01T00:00:00", "2020-01-01T00:00:00+00:00", "2020-01-01T00:00:00+01:00", "2020-02-30",
            "2020-13-01", "2020-1-1", "20200101", "2020-W01-1", "2020-01-01T24:00:00Z", "2020-01-01T23:59:60Z",
            "0000-01-01", "9999-12-31T23:59:59.999Z", "10000-01-01", "-0001-01-01", "+12345-01-01T00:00:00Z", "now",
            "@0", "@253402300800", "@9223372036854775", "@9223372036854775807", "@99999999999999999999",
            "@123-56-890123456789",
        ].map { OddValue("text \($0)", .string($0)) }
        + [OddValue("a huge text", .string(String(repeating: "x", count: 15 << 20)))]

    package static let containers: [OddValue] = [
        OddValue("empty object", [:]), OddValue("empty array", []), OddValue("object", ["city": "Bern", "zip": 3000]),
        OddValue("array of ints", [1, 2]), OddValue("array with a match", [["city": "Bern"], ["city": 1]]),
        OddValue("array of texts", ["true"]), OddValue("object of the odd", ["": nil, "a.b": 1, "u": .undefined]),
        OddValue("deep object", (0..<150).reduce(1) { value, _ in ["a": value] }),
    ]
}

extension [OddValue] {
    /// Returns a document for each value.
    ///
    /// The field with the value is between two other fields.
    package func documents() -> [BSONDocument] {
        enumerated().map { index, odd in
            var document: BSONDocument = ["_id": .integer(index), "name": .string(odd.name)]
            if let value = odd.value { document = document.appending("v", value) }
            return document.appending("z", 1)
        }
    }
}
