import BSON

/// Documents that a query on the server, or a careless filter, may judge differently from the checker.
enum NastyDocuments {
    static let schemas = [
        """
        { "bsonType": "object", "required": ["_id", "a"], "properties": {
            "_id": { "bsonType": "int" }, "a": { "bsonType": "int" }, "b": { "bsonType": "string" },
            "o": { "bsonType": "object", "required": ["x"], "properties": { "x": { "bsonType": "int" } } },
            "l": { "bsonType": "array", "items": { "bsonType": "int" } } } }
        """,
        """
        { "bsonType": "object", "properties": { "_id": { "bsonType": "int" }, "a": { "bsonType": "int" } },
          "additionalProperties": false }
        """,
        """
        { "bsonType": "object", "properties": { "_id": { "bsonType": "int" }, "a.b": { "bsonType": "int" },
            "$a": { "bsonType": "int" }, "": { "bsonType": "int" }, "a": { "bsonType": "mixed" } } }
        """,
        """
        { "bsonType": "object", "required": ["a.b"],
          "properties": { "_id": { "bsonType": "int" }, "a.b": { "bsonType": "int" } } }
        """,
        """
        { "bsonType": "object", "properties": { "_id": { "bsonType": "int" },
            "o": { "bsonType": "object", "additionalProperties": { "bsonType": "int" } },
            "l": { "bsonType": "array", "uniqueItems": true, "items": { "bsonType": "int" } } } }
        """,
        """
        { "bsonType": "object", "properties": { "_id": { "bsonType": "int" },
            "a": { "bsonType": ["int", "string"] }, "b": {}, "é.*+(": { "bsonType": "int" } },
          "additionalProperties": { "bsonType": "int" } }
        """,
        """
        { "bsonType": "object", "required": ["b"], "properties": { "_id": { "bsonType": "int" },
            "a": { "bsonType": "int", "minimum": 5, "maximum": 6, "multipleOf": 2, "enum": [5, 6] },
            "b": { "bsonType": "string", "pattern": "^x", "minLength": 3, "maxLength": 4 },
            "l": { "bsonType": "array", "minItems": 2, "maxItems": 2 },
            "o": { "bsonType": "object", "minProperties": 1, "maxProperties": 1 } },
          "minProperties": 3, "maxProperties": 3, "dependencies": { "a": ["b"] } }
        """,
        """
        { "bsonType": "object", "properties": { "_id": { "bsonType": "int" },
            "a": { "anyOf": [{ "bsonType": "int" }, { "bsonType": "string" }] }, "b": { "not": { "bsonType": "int" } } \
        },
          "patternProperties": { "^l": { "bsonType": "string" } }, "not": { "required": ["o"] } }
        """,
    ]

    static let all: [BSONDocument] = bodies.enumerated().map { number, body in
        BSONDocument([("_id", .integer(number))] + body)
    }

    private static let bodies: [[(String, BSONValue)]] = [
        [], [("a", 1)], [("a", [1])], [("a", [1, "x"])], [("a", [])], [("a", .null)], [("a", [.null])],
        [("a", .undefined)], [("a", .long(1))], [("a", 1.0)], [("a", .double(.nan))], [("a", "x")],
        // Field names that occur twice. Either the first or the second value has a type that the schema does not allow.
        [("a", 1), ("a", "x")], [("a", "x"), ("a", 1)], [("a", 1), ("o", ["x": 1, "x": "y"])],
        [("a", 1), ("o", ["x": "y", "x": 1])], [("a", 1), ("b", "x"), ("b", 5)],
        // Field names that look like paths, operators or patterns, and nested fields that really have such a path.
        [("a.b", 1)], [("a.b", "x")], [("a", ["b": 1])], [("a", ["b": "x"])], [("a", [["b": 1]])], [("$a", "x")],
        [("", "x")], [("a\n", 1)], [("a\n", "x")], [("A", 1)], [("é.*+(", "x")], [("é.*+(", 5)], [("éxx(", "x")],
        // Embedded objects and lists.
        [("a", 1), ("o", [:])], [("a", 1), ("o", .null)], [("a", 1), ("o", ["x": .null])],
        [("a", 1), ("o", [["x": 1]])],
        [("a", 1), ("o", ["x": [1]])], [("a", 1), ("o", ["x": 1, "y": "z"])], [("a", 1), ("o", .array(of: []))],
        [("o", ["a.b": 1])], [("o", ["$a": 1])], [("o", ["": 1])], [("o", ["a": 1])], [("o", ["a": .null])],
        [("a", 1), ("l", [1, 2])], [("a", 1), ("l", [1, "x"])], [("a", 1), ("l", [.null])], [("a", 1), ("l", [[1]])],
        [("a", 1), ("l", .null)], [("a", 1), ("l", ["0": 1])], [("l", [1, 1])], [("l", [1, 1.0])], [("l", [1])],
        [("a", 1), ("_id__baas_transaction", 1)], [("a", 1), ("_id_realm_transaction", .null)],
        [("a", 5), ("b", "xyz")], [("a", 7), ("b", "y")], [("b", "xyz"), ("l", [1])], [("b", "xyz"), ("o", [:])],
        [("b", "xyzxy")], [("b", "xyz"), ("a", 6), ("o", ["p": 1, "q": 2])],
        [("a", ["$ref": "x", "$id": 1])], [("a", ["x": .minKey])], [("a", .regex(pattern: "x", options: ""))],
        [("b", .symbol("x"))], [("b", .binary(subtype: 0, bytes: [1]))], [("extra", .maxKey)],
    ]
}

/// A generator of random documents; most of their fields are named in ``schemas``.
struct RandomDocuments {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    static let schemas = [
        """
        { "bsonType": "object", "required": ["_id", "a"], "properties": {
            "_id": { "bsonType": "int" }, "a": { "bsonType": "int" }, "b": { "bsonType": "string" },
            "c": { "bsonType": "object", "required": ["a"], "properties": {
                "a": { "bsonType": "double" }, "b": { "bsonType": "array", "items": { "bsonType": "string" } } } },
            "d": { "bsonType": "array", "items": { "bsonType": "object", "properties": { "a": { "bsonType": "bool" } } \
        } }
        } }
        """,
        """
        { "bsonType": "object", "required": ["b", "c"], "properties": {
            "_id": { "bsonType": "int" }, "a": { "bsonType": "mixed" }, "b": { "bsonType": "long", "default": 5 },
            "c": { "bsonType": "object", "additionalProperties": { "bsonType": "int" } },
            "d": { "bsonType": "array", "uniqueItems": true, "items": { "bsonType": "uuid" } } },
          "additionalProperties": false }
        """,
        """
        { "bsonType": "object", "properties": { "_id": { "bsonType": "int" }, "a": { "bsonType": ["int", "null"] },
            "b": {}, "c": { "bsonType": "array", "items": [{ "bsonType": "int" }, { "bsonType": "string" }] },
            "d": { "bsonType": "decimal" } }, "additionalProperties": { "bsonType": "string" } }
        """,
    ]

    mutating func document(_ id: Int) -> BSONDocument {
        var elements: [(String, BSONValue)] = [("_id", .integer(id))]
        for _ in 0..<below(5) { elements.append((pick(["a", "a", "b", "b", "c", "d", "e"]), value(3))) }
        return BSONDocument(elements)
    }

    private mutating func value(_ levels: Int) -> BSONValue {
        switch below(levels > 0 ? 16 : 10) {
        case 0, 1: 1
        case 2, 3: "x"
        case 4: .null
        case 5: .double(pick([1, 1.5, .nan]))
        case 6: .long(pick([1, 1 << 40]))
        case 7: .bool(true)
        case 8: .binary(subtype: pick([0, 4]), bytes: Array(repeating: 7, count: pick([3, 16])))
        case 9: pick([.decimal(Decimal128(5)), .undefined, .minKey, .timestamp(5)])
        case 10, 11, 12: .array(of: (0..<below(4)).map { _ in value(levels - 1) })
        default:
            .object(BSONDocument((0..<below(4)).map { _ in (pick(["a", "b", "a.b", "$c"]), value(levels - 1)) }))
        }
    }

    /// Returns a random number below `bound`, by the SplitMix64 algorithm.
    private mutating func below(_ bound: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return Int((bits ^ bits >> 31) % UInt64(bound))
    }

    private mutating func pick<Element>(_ pool: [Element]) -> Element { pool[below(pool.count)] }
}
