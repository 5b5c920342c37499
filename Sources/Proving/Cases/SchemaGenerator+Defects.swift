import BSON

extension SchemaGenerator {
    private static let exclusive = ["exclusiveMinimum", "exclusiveMaximum"]

    /// Adds a keyword or changes one so that mongod may refuse the schema.
    mutating func breakOne(_ keywords: inout [(String, BSONValue)]) {
        let wrongValues: [BSONValue] = [
            .null, 1, -1, 1.5, "x", true, [], [:], [1], ["a", "a"], ["x": 1], .double(.nan),
            SampleValues.decimal("NaN"),
            .double(.infinity), 0, .double(-0.0), ["a": []], ["a": ["b", "b"]], [[:]], [["a": 1]], .undefined, .minKey,
            ["(": [:]],
            "(", "a\0b", "[a-\\d]", ["title": "x"], ["title": 1], .long(.max), .double(9.3e18), ["integer"], "integer",
            "missing",
            ["int", "int"], "uuid", "mixed", ["number", "int"], ["a": ["bsonType": "x"]], .object(["minimum": "x"]),
        ]
        switch random.below(6) {
        case 0:
            let unknown = [
                "minumum", "$ref", "$schema", "default", "definitions", "format", "id", "const", "if", "validate",
                "contains",
            ]
            keywords.append((random.pick(unknown), random.pick(wrongValues)))
        case 1 where !keywords.isEmpty: keywords.append(random.pick(keywords))
        case 2:
            keywords.append((random.pick(Self.exclusive), random.pick([true, false, 1, .null])))
        case 3: keywords += [("type", "object"), ("bsonType", "object")]
        default:
            let known = Self.keywords.union(["description", "title"]).subtracting(Self.exclusive).sorted()
            let keyword = random.pick(known)
            keywords.removeAll { $0.0 == keyword }
            keywords.append((keyword, random.pick(wrongValues)))
        }
    }
}
