import BSON
import Checking
import ServerSchema
import Testing

@Suite struct LinkRuleTests {
    private func schema(
        _ properties: KeyValuePairs<String, SchemaNode>, at sources: [SchemaPath], petID: SchemaType = .objectId
    ) -> CompiledSchema {
        var people = CollectionSchema(.people, properties)
        people.root.properties.append(.init(name: "_id", node: .of(.int)))
        people.relationships = sources.map {
            Relationship(source: $0, target: .pets, location: SchemaNode.nowhere)
        }
        return ServerSchema(people, CollectionSchema(.pets, ["_id": .of(petID)])).compiled()
    }

    private let id = BSONValue.objectID(ObjectID(high: 1, low: 2))

    @Test func linkType() throws {
        let schema = schema(["owner": .of(.objectId)], at: [SchemaPath([.field("owner")])])
        #expect(try schema.findings(["_id": 1, "owner": id]) == [])
        #expect(try schema.findings(["_id": 1]) == [])
        #expect(try schema.findings(["_id": 1, "owner": nil]).allSatisfy { $0.hasPrefix("null-optional info") })
        #expect(
            try schema.findings(["_id": 1, "owner": "abc"])
                == ["link-type certain owner: link to app.Pet (objectId) / string"])
        #expect(try schema.findings(["_id": 1, "owner": 1]).count == 1)
        #expect(try schema.verdict(["_id": 1, "owner": [id]]) == .certain)
    }

    @Test func integersOfBothWidthsAreOneKeyType() throws {
        let schema = schema(["owner": .of(.int)], at: [SchemaPath([.field("owner")])], petID: .long)
        #expect(try schema.verdict(["_id": 1, "owner": 5]) == .fits)
        #expect(try schema.verdict(["_id": 1, "owner": .long(5)]) == .possible)
        #expect(try schema.findings(["_id": 1, "owner": 5.0]).map { $0.prefix(9) } == ["link-type"])
    }

    @Test func aKeyOfAnotherTypeThanTheLinkedOnesFailsWhateverTheSchemaSays() throws {
        let schema = schema(["owner": .of(.string)], at: [SchemaPath([.field("owner")])])
        #expect(try schema.verdict(["_id": 1, "owner": "x"]) == .certain)
        #expect(try schema.verdict(["_id": 1, "owner": id]) == .certain)
    }

    @Test func listsAndDictionariesOfLinks() throws {
        let home = SchemaNode.object(["pets": .list(.of(.uuid))])
        let schema = schema(
            [
                "pets": .list(.of(.uuid)), "byName": .dictionary(.of(.uuid)), "set": .set(.of(.uuid)),
                "homes": .list(home),
            ],
            at: [
                SchemaPath([.field("pets")]), SchemaPath([.field("byName"), .elements]), SchemaPath([.field("set")]),
                SchemaPath([.field("homes"), .elements, .field("pets")]),
            ], petID: .uuid)
        let fitting: BSONDocument = [
            "_id": 1, "pets": [.uuid()], "byName": ["a": .uuid(), "b": nil], "set": [.uuid(1), .uuid(2)],
            "homes": [["pets": [.uuid()]]],
        ]
        #expect(try schema.findings(fitting) == [])
        let failing: BSONDocument = [
            "_id": 1, "pets": [1], "byName": ["a": "x"], "set": [[]],
            "homes": [["pets": [.binary(subtype: 3, bytes: Array(repeating: 1, count: 16))]]],
        ]
        let expected = "link to app.Pet (uuid)"
        #expect(
            try schema.findings(failing) == [
                "link-type certain pets[]: \(expected) / int", "link-type certain byName{}: \(expected) / string",
                "link-type certain set[]: \(expected) / array",
                "link-type certain homes[].pets[]: \(expected) / binData of subtype 3, 16 bytes",
            ])
        #expect(try schema.findings(["_id": 1, "pets": "x"]).map { $0.prefix(15) } == ["array-not-array"])
    }

    @Test func linkNullItem() throws {
        let schema = schema(["pets": .list(.of(.objectId))], at: [SchemaPath([.field("pets")])])
        #expect(try schema.findings(["_id": 1, "pets": [id]]) == [])
        #expect(
            try schema.findings(["_id": 1, "pets": [nil]])
                == ["link-null-item certain pets[]: link to app.Pet (objectId) / null"])
    }

    @Test func aLinkThatTheSchemaDoesNotHaveIsPassedOver() throws {
        let schema = schema(["owner": .of(.objectId)], at: [SchemaPath([.field("ghost"), .elements])])
        #expect(try schema.findings(["_id": 1, "owner": "abc"]).map { $0.prefix(13) } == ["type-mismatch"])
    }

    @Test func anUnknownCollectionLeavesTheSchemasOwnType() throws {
        let people = CollectionSchema(.people, ["_id": .of(.int), "owner": .of(.string)])
            .linked(SchemaPath([.field("owner")]))
        let schema = ServerSchema(people).compiled()
        #expect(try schema.findings(["_id": 1, "owner": "x"]) == [])
        #expect(
            try schema.findings(["_id": 1, "owner": 1]) == ["link-type certain owner: link to app.Pet (string) / int"])
    }
}

@Suite struct ReferenceRuleTests {
    private static let mixed = CollectionSchema(.people, ["_id": .of(.int), "m": .of(.mixed)])
    private static let app = ServerSchema(
        mixed, CollectionSchema(.pets, ["_id": .of(.long)]),
        CollectionSchema(Namespace(database: "zoo", collection: "Animal"), ["_id": .of(.uuid)]))
    private let schema = app.compiled()

    @Test(
        arguments: [
            ["$ref": "Pet", "$id": 1], ["$ref": "Pet", "$id": .long(1), "more": 1],
            ["$ref": "Pet", "$id": 1, "$db": "app"], ["$ref": "Animal", "$id": .uuid(), "$db": "zoo"],
            [["$ref": "Pet", "$id": 1]], ["$id": 1, "x": 1],
        ] as [BSONValue])
    func fitting(_ value: BSONValue) throws {
        #expect(try schema.findings(["_id": 1, "m": value]).filter { $0.hasPrefix("mixed-dbref") } == [])
    }

    @Test(
        arguments: [
            (["$ref": "Ghost", "$id": 1], "DBRef to a collection that does not sync"),
            (["$ref": "Pet", "$id": 1, "$db": "zoo"], "DBRef to a collection that does not sync"),
            (["$ref": "Animal", "$id": .uuid()], "DBRef to a collection that does not sync"),
            (["$ref": "Pet", "$id": "x"], "DBRef whose $id is string"),
            (["$ref": "Pet", "$id": nil], "DBRef whose $id is null"),
            (["$ref": "Animal", "$id": .binary(subtype: 3, bytes: []), "$db": "zoo"], "DBRef whose $id is binData"),
        ] as [(BSONValue, String)])
    func mixedDBRef(_ value: BSONValue, _ found: String) throws {
        let wanted = "link to the _id of a synced collection"
        #expect(try schema.findings(["_id": 1, "m": value]) == ["mixed-dbref possible m: \(wanted) / \(found)"])
        #expect(
            try schema.findings(["_id": 1, "m": ["a": value]]) == ["mixed-dbref possible m{}: \(wanted) / \(found)"])
    }

    @Test func withoutTheAppNothingIsSaidOfIt() throws {
        #expect(try CompiledSchema(Self.mixed).findings(["_id": 1, "m": ["$ref": "Ghost", "$id": 1]]) == [])
        var part = Self.app
        part.isWhole = false
        #expect(try part.compiled().findings(["_id": 1, "m": ["$ref": "Ghost", "$id": 1]]) == [])
    }
}
