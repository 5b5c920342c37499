import BSON
import Checking
import Testing

/// A test case for one rule: a schema of the field `f`, values of `f` that break the rule, and values that do not.
struct FilterCase: Sendable, CustomTestStringConvertible {
    let rule: RuleCode
    /// The schema of `f`, as extended JSON.
    let schema: String
    /// Whether `f` is required.
    var isRequired = false
    /// Values of `f` that break the rule; `nil` for a document without the field.
    let failing: [BSONValue?]
    /// Values of `f` that fit, or that break another rule; `nil` for a document without the field.
    let others: [BSONValue?]
    /// Whether the filter of the rule is expected to find only the failing values.
    var isExact = true
    /// Whether the check allows arrays and objects as values of the type mixed.
    var allowsMixedCollections = true

    var testDescription: String { "\(rule) of \(schema)" }
}

extension FilterCase {
    init(
        _ rule: Rule, _ schema: String, _ failing: [BSONValue?], _ others: [BSONValue?], isRequired: Bool = false,
        isExact: Bool = true, allowsMixedCollections: Bool = true
    ) {
        self.init(
            rule: rule.code, schema: schema, isRequired: isRequired, failing: failing, others: others, isExact: isExact,
            allowsMixedCollections: allowsMixedCollections)
    }
}

extension FilterCase {
    /// The cases of the App Services rules that a field can break, except those that `FilterSyncTests` tests.
    static let all =
        required + types + numbers + arrays + dictionaries + mixed + binaries + points + extras + constraints

    private static let int = #"{ "bsonType": "int" }"#
    private static let embedded =
        #"{ "bsonType": "object", "required": ["n"], "properties": { "n": { "bsonType": "int" } } }"#

    /// One value of each type except numbers, strings, arrays, objects, null and the deprecated types.
    private static let strangers: [BSONValue] = [
        .bool(true), .date(milliseconds: 5), .objectID(ObjectID(high: 1, low: 2)), .timestamp(7),
        .regex(pattern: "a", options: "i"), .minKey, .maxKey, .javascript("x"), .binary(subtype: 0, bytes: [1]),
    ]
    private static let deprecated: [BSONValue] = [
        .undefined, .symbol("s"), .dbPointer("a.b", ObjectID(high: 1, low: 2)), .javascriptWithScope("x", [:]),
    ]

    private static let required = [
        FilterCase(.requiredMissing, int, [nil], [1, .null, [.null], "x"], isRequired: true),
        FilterCase(.requiredNull, int, [.null], [1, nil, [.null], [[.null]], .undefined], isRequired: true),
        FilterCase(
            .requiredMissingDefaulted, #"{ "bsonType": "int", "default": 5 }"#, [nil], [1, .null], isRequired: true),
        FilterCase(.requiredMissing, #"{ "bsonType": "int", "default": "x" }"#, [nil], [1, .null], isRequired: true),
        FilterCase(.nullOptional, int, [.null], [1, nil, [.null]]),
        FilterCase(
            .embeddedRequiredMissing, embedded, [[:], ["m": 1]],
            [["n": 1], ["n": .null], nil, .null, 5, [["m": 1]], [[:]]]),
        FilterCase(
            .embeddedRequiredNull, embedded, [["n": .null]], [["n": 1], [:], nil, [["n": .null]], ["n": [.null]]]),
    ]

    private static let types = [
        FilterCase(.typeMismatch, int, strangers + ["x", ["a": 1], [1], [["x"]]], [1, nil, .null]),
        FilterCase(.undefinedValue, int, deprecated, [1, nil, .null, "x", [.undefined]]),
        FilterCase(.embeddedNotObject, embedded, strangers + [5, "x", [["n": 1]]], [["n": 1], nil, .null]),
        FilterCase(
            .arrayNotArray, #"{ "bsonType": "array", "items": { "bsonType": "int" } }"#,
            strangers + [5, "x", ["n": 1]], [[1], [], nil, .null, [[1]]]),
    ]

    private static func decimal(_ number: Int64) -> BSONValue { .decimal(Decimal128(number)) }

    private static let numbers: [FilterCase] = [
        FilterCase(
            .numericWidthMismatch, int, [.long(5), .double(5), decimal(5), .double(-0.0), .long(-2_147_483_648)],
            [5, .long(1 << 40), 5.5, "5", .double(.nan), [.long(5)]]),
        FilterCase(
            .numericLossy, int,
            [
                .long(1 << 31), .double(5.5), .double(.nan), .double(.infinity), .double(-.infinity), decimal(1 << 40),
                .decimal(.nan), .decimal(.infinity), .double(1e300), .double(2_147_483_648),
            ], [5, .long(5), 5.0, "5.5", [5.5]]),
        FilterCase(
            .numericWidthMismatch, #"{ "bsonType": "double" }"#,
            [5, .long(5), .long(1 << 53), decimal(5), .decimal(.nan), .decimal(.infinity)],
            [5.5, .long(1 << 53 + 1), "5", .double(.nan)]),
        FilterCase(
            .numericLossy, #"{ "bsonType": "double" }"#, [.long(1 << 53 + 1), .long(.max), decimal(1 << 53 + 1)],
            [5, .long(5), 5.5, "5"]),
        FilterCase(
            .numericWidthMismatch, #"{ "bsonType": "long" }"#, [5, 5.0, decimal(1 << 40), .double(-9.2e18)],
            [.long(5), 5.5, .double(9.3e18), .double(.nan)]),
        FilterCase(
            .numericLossy, #"{ "bsonType": "long" }"#,
            [5.5, .double(9.3e18), .double(9_223_372_036_854_775_808), .double(.nan), .decimal(.negativeInfinity)],
            [.long(5), 5, 5.0]),
        FilterCase(
            .numericWidthMismatch, #"{ "bsonType": "decimal" }"#, [5, .long(.max), 5.5, .double(.nan)],
            [decimal(5), .decimal(.nan), "5"]),
        FilterCase(
            .numericLossy, #"{ "bsonType": ["int", "long"] }"#, [5.5, .double(.nan)], [5, .long(5), 5.0, "x"],
            isExact: false),
    ]
}
