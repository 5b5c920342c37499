import BSON
import Checking

extension FilterCase {
    private static let list = #"{ "bsonType": "array", "items": { "bsonType": "int" } }"#
    private static let intSet = #"{ "bsonType": "array", "uniqueItems": true, "items": { "bsonType": "int" } }"#
    private static let dictionary = #"{ "bsonType": "object", "additionalProperties": { "bsonType": "int" } }"#
    private static let anything = #"{ "bsonType": "mixed" }"#
    private static let sixteen = [UInt8](repeating: 7, count: 16)

    static let arrays = [
        FilterCase(.arrayItemType, list, [["x"], [1, "x"], [["n": 1]]], [[1], [], nil, "x", [["x"]], ["a": "x"]]),
        FilterCase(.arrayNested, list, [[[1]], [1, []]], [[1], [["n": 1]], nil]),
        FilterCase(.arrayItemNull, list, [[.null], [1, .null]], [[1], [], nil, .null, [[.null]]]),
        FilterCase(.setDuplicate, intSet, [[1, 1], [1, 2, 1], [.long(1), 1]], [[1, 2], [], [1], nil, ["x": 1]]),
        FilterCase(
            .setDuplicate, #"{ "bsonType": "array", "uniqueItems": true, "items": { "bsonType": "object" } }"#,
            [
                [["a": 1, "b": 2], ["a": 1, "b": 2]], [["a": 1, "b": 2], ["b": 2.0, "a": 1]],
                [["a": ["b": 1, "c": 2]], ["a": ["c": 2, "b": 1]]],
            ],
            [[["a": 1]], [["a": 1], ["a": 2]], [["a": [1, 2]], ["a": [2, 1]]]]),
        FilterCase(
            .setDuplicate,
            #"{ "bsonType": "array", "items": { "bsonType": "object", "properties": { "s": \#(intSet) } } }"#,
            [[["s": [1, 1]]], [["s": [1]], ["s": [2, 3, 2]]]], [[["s": [1]], ["s": [1]]], [], [1, 1], ["s": [1, 1]]]),
        FilterCase(
            .arrayItemType,
            #"{ "bsonType": "array", "items": [{ "bsonType": "int" }, { "bsonType": "string" }] }"#, [["x", "y"]],
            [[1, "x"], [], nil], isExact: false),
        FilterCase(
            .embeddedRequiredMissing,
            """
            { "bsonType": "array", "items": { "bsonType": "object", "required": ["n"], \
            "properties": { "n": { "bsonType": "int" } } } }
            """, [[[:]], [["n": 1], ["m": 1]]], [[["n": 1]], [], [["n": .null]], [[[:]]], [1], [:], ["a": [:]]]),
    ]

    static let dictionaries = [
        FilterCase(
            .dictionaryValueType, dictionary, [["a": "x"], ["a": 1, "b": [1]]], [["a": 1], [:], nil, 5, [["a": "x"]]]),
        FilterCase(
            .setDuplicate, #"{ "bsonType": "object", "additionalProperties": \#(intSet) }"#,
            [["a": [1, 1]], ["a": [1], "b": [2, 2]]], [["a": [1], "b": [1]], [:], nil, [1, 1], [["a": [1, 1]]]]),
        FilterCase(.dictionaryValueNull, dictionary, [["a": .null]], [["a": 1], [:], nil, .null, ["a": [.null]]]),
        FilterCase(
            .dictionaryKey, dictionary, [["": 1], ["$a": 1], ["a.b": 1], ["a": 1, "$": 2], ["$a.b": 1], ["a$.": 1]],
            [["a": 1], ["a$b": 1], [:], nil, [["a.b": 1]]]),
    ]

    static let mixed: [FilterCase] = [
        FilterCase(
            .mixedType, anything,
            [
                .timestamp(1), .regex(pattern: "a", options: ""), .minKey, .maxKey, .javascript("x"), [.timestamp(1)],
                ["a": [.minKey]], .binary(subtype: 3, bytes: sixteen),
            ],
            [1, "x", nil, .null, [1], ["a": 1], .binary(subtype: 4, bytes: sixteen), .binary(subtype: 0, bytes: [1])]),
        FilterCase(.mixedType, anything, [.binary(subtype: 5, bytes: [1])], [1, nil], isExact: false),
        FilterCase(.undefinedValue, anything, [.undefined, [.symbol("x")]], [1, nil, .null, "x"]),
        FilterCase(
            .mixedCollection, anything, [[1], []], [1, nil, ["$ref": "a", "$id": 1]], allowsMixedCollections: false),
        FilterCase(
            .mixedCollection, anything, [["a": 1]], [1, nil], isExact: false, allowsMixedCollections: false),
        FilterCase(.mixedDepth, anything, [nested(101)], [nested(5), 1, nil], isExact: false),
        FilterCase(.dictionaryKey, anything, [["a.b": 1], ["": 1]], [["a": 1], ["$ref": "a", "$id": 1], nil]),
        FilterCase(.dictionaryKey, anything, [["$a": 1]], [["a": 1], nil], isExact: false),
    ]

    private static func nested(_ levels: Int) -> BSONValue {
        (0..<levels).reduce(1) { inner, _ in .array(of: [inner]) }
    }

    static let binaries: [FilterCase] = [
        FilterCase(
            .binarySubtype, #"{ "bsonType": "binData" }"#,
            [.binary(subtype: 5, bytes: sixteen), .binary(subtype: 3, bytes: sixteen)],
            [.binary(subtype: 0, bytes: sixteen), .binary(subtype: 0, bytes: []), nil, "x"]),
        FilterCase(
            .binarySubtype, #"{ "bsonType": "binData" }"#, [.binary(subtype: 5, bytes: [1, 2])],
            [.binary(subtype: 0, bytes: sixteen), nil], isExact: false),
        FilterCase(
            .uuidSubtype, #"{ "bsonType": "uuid" }"#,
            [.binary(subtype: 3, bytes: sixteen), .binary(subtype: 0, bytes: sixteen)],
            [.binary(subtype: 4, bytes: sixteen), nil, .null]),
        FilterCase(
            .uuidSubtype, #"{ "bsonType": "uuid" }"#, [.binary(subtype: 4, bytes: [1])],
            [.binary(subtype: 4, bytes: sixteen)], isExact: false),
    ]

    static let points = [
        FilterCase(
            .geoPoint,
            """
            { "bsonType": "object", "required": ["type", "coordinates"], "properties": { \
            "type": { "bsonType": "string" }, \
            "coordinates": { "bsonType": "array", "items": { "bsonType": "double" } } } }
            """,
            [
                point([181.0, 0.5]), point([0.5, -90.5]), point([1.5]), point([]), point([1, 2]), point([1.5, "x"]),
                point([.double(.nan), 0.5]), ["type": "Point"], point(.null),
            ],
            [
                point([180.0, 90.0]), point([-180.0, -90.0, 7.5]), ["type": "Line", "coordinates": [1.5]], nil,
                [point([1.5])], point(5), point(["a": 1]),
            ])
    ]

    private static func point(_ coordinates: BSONValue) -> BSONValue { ["type": "Point", "coordinates": coordinates] }

    static let extras = [
        FilterCase(
            .additionalProperty,
            #"{ "bsonType": "object", "properties": { "n": { "bsonType": "int" } }, "additionalProperties": false }"#,
            [["m": 1], ["n": 1, "m": "x"]], [["n": 1], [:], nil, [["m": 1]], 5]),
        FilterCase(
            .extraField, #"{ "bsonType": "object", "properties": { "n": { "bsonType": "int" } } }"#,
            [["m": 1], ["n": 1, "a b": "x"], ["$m": 1], ["a.b": 1]], [["n": 1], [:], nil, [["m": 1]], 5]),
        FilterCase(
            .extraField,
            #"""
            { "bsonType": "object", "properties": { "n": { "bsonType": "int" } },
              "additionalProperties": { "bsonType": "array", "items": { "bsonType": "int" } } }
            """#,
            [["m": [1]], ["m": []]], [["n": 1], ["m": ["x"]], nil], isExact: false),
    ]
}
