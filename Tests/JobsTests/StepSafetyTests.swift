import BSON
import Checking
import ServerSchema
import Testing

@testable import Jobs

/// Tests which steps can be proven, from the schema alone, to make no document unsyncable.
@Suite struct StepSafetyTests {
    private static let schema = SchemaNode.object(
        [
            "text": .of(.string), "note": .of(.string), "key": .of(.string), "age": .of(.int), "long": .of(.long),
            "either": .of(.string, .null), "untyped": .of(), "any": .of(.mixed), "anyToo": .of(.mixed),
            "list": .of(.array), "listToo": .of(.array), "id": .of(.uuid), "idToo": .of(.uuid),
            "open": .object(["city": .of(.string)]), "openToo": .object(["city": .of(.string)]),
            "closed": .object(["city": .of(.string)], further: .forbidden),
            "values": .object([:], further: .schema(.of(.int))), "keyToo": .of(.string), "number": .of(.number),
            "outer": .object(["open": .object(["city": .of(.string)])]), "anyWith": anyWithX, "anyValues": anyValues,
            "spot": .object(["type": .of(.string), "coordinates": coordinates, "name": .of(.string)]),
            "place": .object(["type": .of(.string), "coordinates": coordinates], required: ["type"]),
        ], required: ["key", "keyToo"])

    /// A schema of the type `mixed`, which accepts any value; its `properties` have no effect.
    private static var anyWithX: SchemaNode {
        var node = SchemaNode.object(["x": .of(.int)])
        node.types = [.mixed]
        return node
    }

    /// A schema for a dictionary with values of any type.
    private static var anyValues: SchemaNode {
        var node = SchemaNode.of(.object)
        node.hasAdditionalProperties = true
        return node
    }

    private static var coordinates: SchemaNode {
        var node = SchemaNode.of(.array)
        node.items = .each(.of(.double))
        return node
    }

    private func isSafe(_ step: Step, under schema: SchemaNode = schema) -> Bool {
        StepSafety.holds(step, under: schema)
    }

    @Test(
        arguments: [
            ("text", "", true), ("text", 1, false), ("text", nil, true), ("age", 1, true), ("age", .long(1), true),
            ("long", .long(1), true), ("long", 1, true), ("either", "", true), ("untyped", "", true),
            ("list", [], true), ("open", [:], true), ("any", 1, true), ("any", [1], true),
            ("any", .symbol("a"), false), ("key", nil, false), ("number", 1, true), ("number", "", false),
            ("open.city", "", true),
            ("open.city", 1, false), ("id", .binary(subtype: 4, bytes: Array(0..<16)), true),
            ("id", .binary(subtype: 4, bytes: []), false), ("new", 1, true), ("open.new", 1, true),
            ("closed.new", 1, false), ("values.new", "", false), ("text.new", 1, false), ("new.deep", 1, true),
            ("anyValues.new", 1, false), ("anyWith.x", 1, false), ("place.type", "Point", false),
            ("spot.type", "Point", true),
            ("place", ["type": "Point", "coordinates": [1.0, 2.0]], true), ("place", ["type": "Point"], false),
        ] as [(String, BSONValue, Bool)])
    func aDefault(_ field: String, _ value: BSONValue, _ expected: Bool) throws {
        #expect(isSafe(.default(field: try FieldPath(field), value: value, nullsToo: true)) == expected)
    }

    @Test(arguments: [
        ("text", "note", true), ("text", "key", false), ("text", "age", false), ("age", "long", false),
        ("nowhere", "note", false), ("either", "note", false), ("text", "either", false), ("any", "anyToo", true),
        ("list", "listToo", true), ("open", "openToo", true), ("open", "closed", false), ("key", "keyToo", true),
        ("open", "outer.open", false), ("anyWith.x", "age", false), ("age", "anyWith.x", false), ("id", "idToo", true),
        ("text", "open.city", true),
        ("open.city", "note", true), ("text", "new", true), ("text", "closed.new", false),
    ])
    func aCopy(_ from: String, _ to: String, _ expected: Bool) throws {
        #expect(isSafe(.copy(from: try FieldPath(from), to: try FieldPath(to))) == expected)
    }

    @Test(
        arguments: [
            ("text", .string, nil, true), ("text", .int, nil, false), ("either", .string, nil, true),
            ("text", .int, "age", true), ("text", .int, "long", false), ("text", .int, "new", true),
            ("text", .int, "closed.new", false), ("text", .int, "any", true), ("text", .int, "number", true),
            ("text", .string, "number", false), ("text", .string, "either", true), ("new", .int, nil, true),
        ] as [(String, SchemaType, String?, Bool)])
    func aConversion(_ field: String, _ to: SchemaType, _ into: String?, _ expected: Bool) throws {
        let step = Step.convert(field: try FieldPath(field), to: to, into: try into.map { try FieldPath($0) })
        #expect(isSafe(step) == expected)
    }

    /// The schema of a field proves no step safe if the field is a link or the partition key.
    ///
    /// The reason is that a link or a partition key must also meet rules that are not part of this schema.
    @Test(arguments: [
        ("key", false), ("text", true), ("_partition", false), ("owner", false), ("open", false), ("open.city", false),
        ("openToo.city", true), ("list", false), ("listToo", true),
    ]) func keysAreNeverProven(_ field: String, _ expected: Bool) throws {
        var collection = CollectionSchema(
            namespace: Namespace(database: "app", collection: "Person"), root: Self.schema)
        let sources: [SchemaPath] = [
            SchemaPath([.field("key")]), SchemaPath([.field("open"), .field("city")]),
            SchemaPath([.field("list"), .elements]), SchemaPath([.field("owner")]),
        ]
        collection.relationships = sources.map {
            Relationship(source: $0, target: collection.namespace, location: SchemaNode.nowhere)
        }
        var app = ServerSchema(dialect: .appServices, collections: [collection])
        let key = SyncConfiguration.PartitionKey(field: "_partition", type: .string)
        app.sync = SyncConfiguration(mode: .partition(key), location: SchemaNode.nowhere)
        let value: BSONValue = field.hasPrefix("list") ? [] : field == "open" ? [:] : ""
        let step = Step.default(field: try FieldPath(field), value: value, nullsToo: false)
        #expect(StepSafety.holds(step, under: collection, of: app) == expected)
        #expect(isSafe(step))
    }

    @Test func theAssumptionsAboutMixedValues() throws {
        let step = Step.default(field: try FieldPath("any"), value: [1], nullsToo: false)
        var assumptions = CheckOptions()
        #expect(StepSafety.holds(step, under: Self.schema, assuming: assumptions))
        assumptions.allowsMixedCollections = false
        #expect(!StepSafety.holds(step, under: Self.schema, assuming: assumptions))
    }

    @Test func aRootThatForbidsFurtherFields() throws {
        let step = Step.default(field: try FieldPath("new"), value: 1, nullsToo: false)
        #expect(isSafe(step))
        #expect(!isSafe(step, under: .object(["text": .of(.string)], further: .forbidden)))
        #expect(!isSafe(step, under: .object(["text": .of(.string)], further: .schema(.of(.string)))))
    }
}
