import BSON

/// Documents with values of all types at a path, and with arrays, repeated names and dotted names around them.
enum OddDocuments {
    private static let sixteen = [UInt8](repeating: 7, count: 16)
    private static let id = ObjectID(high: 1, low: 2)

    /// Values of all BSON types, among them those that a query and an expression may compare differently.
    static let values: [BSONValue] = [
        .null, .undefined, .minKey, .maxKey, .bool(true), .bool(false), .objectID(id), .symbol(""), .symbol("A"),
        .dbPointer("a.b", id), .javascript("x"), .javascriptWithScope("x", [:]), .regex(pattern: "a", options: "i"),
        "", "\u{0}", "a", "A", "b\n", "aa", "OPEN", "Open", .date(milliseconds: 5), .date(milliseconds: .max),
        .timestamp(7), .timestamp(.max), 0, -1, 5, .int(.min), .int(.max), .long(0), .long(-1), .long(.min),
        .long(.max), .long(1 << 31), 0.0, .double(-0.0), 5.5, -1.0, .double(.nan), .double(.infinity),
        .double(-.infinity), .double(1e300), .decimal(Decimal128(5)), .decimal(.nan), .decimal(.infinity),
        .decimal(.negativeInfinity), .decimal(Decimal128(-1)), .binary(subtype: 0, bytes: []),
        .binary(subtype: 0, bytes: sixteen), .binary(subtype: 3, bytes: sixteen), .binary(subtype: 4, bytes: sixteen),
        .binary(subtype: 5, bytes: [1]), [:], ["n": 1], .array(of: []), [[]],
    ]

    /// Returns documents with each of the values at a path, in many ways; the `_id`s are numbers.
    static func all(at names: [String], _ more: [BSONValue]) -> [BSONDocument] {
        let field = names[names.count - 1]
        let leaves = (values + more).flatMap { value -> [[(String, BSONValue)]] in
            [
                [(field, value)], [(field, [value])], [(field, [[value]])], [(field, ["no", value])],
                [(field, .object(BSONDocument([(field, value)])))], [(field, ["0": value])],
                [(field, value), (field, "again")], [(field, 5), (field, value)],
            ]
        }
        let others: [[(String, BSONValue)]] = [
            [], [("$" + field, 1)], [("x." + field, 1)], [(names.joined(separator: "."), 1)],
        ]
        let bodies = (leaves + others).flatMap { around($0, names.dropLast()) }
        return bodies.enumerated().map { number, body in BSONDocument([("_id", .integer(number))] + body) }
    }

    /// Returns the fields inside objects with the names of the parents, and inside arrays in place of the objects.
    private static func around(
        _ fields: [(String, BSONValue)], _ parents: ArraySlice<String>
    ) -> [[(String, BSONValue)]] {
        guard let parent = parents.last else { return [fields] }
        let object = BSONValue.object(BSONDocument(fields))
        let all: [[(String, BSONValue)]] = [
            [(parent, object)], [(parent, [object])], [(parent, [5, object])], [(parent, object), (parent, 5)],
            [(parent, 5), (parent, object)],
        ]
        return all.flatMap { around($0, parents.dropLast()) }
    }
}
