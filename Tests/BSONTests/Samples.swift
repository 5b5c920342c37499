import BSON

/// Values that the tests of several suites use.
enum Samples {
    /// One value of each type, in the order of ``BSONType/all``.
    static let everyType: [BSONValue] = [
        .double(1.5), .string("text \u{0} after a NUL"), .object(["a": 1, "b": ["c": nil]]), [1, "two", [3]],
        .binary(subtype: 4, bytes: Array(0..<16)), .undefined,
        .objectID(ObjectID(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C)), .bool(true),
        .date(milliseconds: -1), .null, .regex(pattern: "^a+$", options: "im"),
        .dbPointer("db.c", ObjectID(high: 1, low: 2)), .javascript("f()"), .symbol("sym"),
        .javascriptWithScope("g()", ["y": 2]), .int(-7), .timestamp(0xFFFF_FFFF_0000_0001), .long(1 << 40),
        .decimal(Decimal128(high: 0x3040_0000_0000_0000, low: 42)), .minKey, .maxKey,
    ]
}
