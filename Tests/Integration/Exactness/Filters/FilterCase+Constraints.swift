import BSON
import Checking

extension FilterCase {
    private init(
        constraint: String, _ keywords: String, _ failing: [BSONValue?], _ others: [BSONValue?], isExact: Bool = true
    ) {
        self.init(
            rule: RuleCode(rawValue: "constraint-" + constraint), schema: "{ \(keywords) }", failing: failing,
            others: others, isExact: isExact)
    }

    static let constraints: [FilterCase] = ofScalars + ofCollections + combined

    private static let ofScalars: [FilterCase] = [
        FilterCase(
            constraint: "below-minimum", #""bsonType": "int", "minimum": 0"#, [-1, .double(-0.5), .double(.nan)],
            [0, .null, nil, "x", [-1], 5.5]),
        FilterCase(
            constraint: "above-maximum", #""bsonType": "double", "maximum": 9, "exclusiveMaximum": true"#,
            [9.0, .long(9), .decimal(.infinity)], [8.9, .null, nil]),
        FilterCase(
            constraint: "not-multiple-of", #""bsonType": "int", "multipleOf": 3"#, [4, 1.5], [3, 0, .null, nil]),
        FilterCase(
            constraint: "too-short", #""bsonType": "string", "minLength": 2"#, ["", "é"], ["éé", .null, nil, 1]),
        FilterCase(constraint: "too-long", #""bsonType": "string", "maxLength": 2"#, ["abc"], ["éé", .null, nil]),
        FilterCase(
            constraint: "pattern-mismatch", #""bsonType": "string", "pattern": "^a+$""#, ["ab", ""], ["aa", .null, nil]),
        FilterCase(
            constraint: "not-in-enum", #""bsonType": "string", "enum": ["a", "b", "a"]"#, ["c", "A"],
            ["a", "b", .null, nil]),
    ]

    private static let positive = #"{ "bsonType": "int", "minimum": 0 }"#

    private static let ofCollections: [FilterCase] = [
        FilterCase(
            constraint: "below-minimum", #""bsonType": "array", "items": \#(positive)"#, [[-1], [1, -1]],
            [[1], [], .null, nil, -1, [[-1]]]),
        FilterCase(
            constraint: "below-minimum", #""bsonType": "object", "additionalProperties": \#(positive)"#, [["a": -1]],
            [["a": 1], [:], nil, [["a": -1]]]),
        FilterCase(
            constraint: "below-minimum",
            #""bsonType": "object", "properties": { "n": \#(positive), "m": { "bsonType": "int" } }"#,
            [["n": -1], ["m": 1, "n": -1]], [["n": 1], ["m": -1], nil, [["n": -1]]]),
        FilterCase(constraint: "too-few-items", #""bsonType": "array", "minItems": 1"#, [[]], [[1], .null, nil, [:]]),
        FilterCase(constraint: "too-many-items", #""bsonType": "array", "maxItems": 1"#, [[1, 2]], [[1], .null, nil]),
        FilterCase(
            constraint: "additional-item",
            #""bsonType": "array", "items": [{ "bsonType": "int" }], "additionalItems": false"#, [[1, 2]],
            [[1], [], .null, nil], isExact: false),
        FilterCase(
            constraint: "too-few-properties", #""bsonType": "object", "minProperties": 1"#, [[:]], [["a": 1], nil]),
        FilterCase(
            constraint: "too-many-properties", #""bsonType": "object", "maxProperties": 1"#, [["a": 1, "b": 1]],
            [["a": 1], .null, nil]),
        FilterCase(
            constraint: "dependency-missing", #""bsonType": "object", "dependencies": { "a": ["b"] }"#, [["a": 1]],
            [["a": 1, "b": 1], ["b": 1], nil], isExact: true),
        FilterCase(
            constraint: "dependency-schema",
            #""bsonType": "object", "dependencies": { "a": { "required": ["b"] } }"#, [["a": 1]],
            [["a": 1, "b": 1], ["b": 1], nil]),
        FilterCase(
            constraint: "type-mismatch",
            #""bsonType": "object", "properties": {}, "patternProperties": { "^x": { "bsonType": "int" } }"#,
            [["x": "y"], ["a": 1, "x1": "y"]], [["x": 1], ["y": "y"], nil]),
    ]

    private static let combined: [FilterCase] = [
        FilterCase(
            constraint: "all-of", #""bsonType": "int", "allOf": [{ "minimum": 1 }, { "maximum": 3 }]"#, [0, 4],
            [2, .null, nil]),
        FilterCase(
            constraint: "any-of", #""bsonType": "mixed", "anyOf": [{ "bsonType": "int" }, { "bsonType": "uuid" }]"#,
            ["x", .bool(true)], [1, .null, nil]),
        FilterCase(
            constraint: "one-of", #""bsonType": "int", "oneOf": [{ "minimum": 1 }, { "maximum": 3 }]"#, [2],
            [4, .null, nil], isExact: false),
        FilterCase(
            constraint: "not", #""bsonType": "int", "not": { "enum": [7] }"#, [7, .long(7)], [2, .null, nil]),
    ]
}
