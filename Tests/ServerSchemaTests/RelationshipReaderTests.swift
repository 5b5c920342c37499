import BSON
import ServerSchema
import Testing

@Suite struct RelationshipReaderTests {
    private func app(_ links: String) throws -> AppFolder {
        try AppFolder([
            "data_sources/main/shop/Pet/relationships.json": links,
            "data_sources/main/shop/Pet/schema.json": #"""
            {"title": "Pet", "properties": {"_id": {"bsonType": "int"}, "owner": {"bsonType": "int"},
             "toys": {"bsonType": "array", "items": {"bsonType": "object", "properties": {"maker": {"bsonType": "int"}}}},
             "map": {"bsonType": "object", "additionalProperties": {"bsonType": "int"}}}}
            """#,
        ])
    }

    private func link(_ name: String, _ more: String = "") -> String {
        ##"{"\##(name)": {"ref": "#/relationship/main/shop/Person", "foreign_key": "_id", "is_list": false\##(more)}}"##
    }

    @Test(arguments: [
        ("owner", "owner"), ("toys.[].maker", "toys[].maker"), ("map", "map"), ("map.[]", "map{}"),
        ("toys.[]", "toys[]"),
    ]) func pathsLeadThroughCollections(_ source: String, _ path: String) throws {
        let pet = try app(link(source)).read().collections[0]
        #expect(pet.relationships.map(\.source.description) == [path])
        #expect(pet.relationships.map { $0.location.column } == [2])
    }

    @Test func collectionsMayHaveAnyName() throws {
        let text = ##"{"owner": {"ref": "#/relationship/main/shop/a/b.c", "foreign_key": "n", "is_list": false}}"##
        let link = try app(text).read().collections[0].relationships[0]
        #expect(link.target.collection == "a/b.c")
        #expect(link.foreignKey == "n")
    }

    @Test(arguments: [
        ("ownr", #"1:2: the link starts from "ownr", which the schema does not have (did you mean "owner"?)"#),
        ("toys.[].makr", #"1:2: the link starts from "makr", which toys[] does not have (did you mean "maker"?)"#),
        ("owner.[]", #"1:2: the link starts from "[]", which owner does not have"#),
        ("", #"1:2: the link starts from "", which the schema does not have"#),
    ]) func aLinkFromNowhereIsNotedAndLeftOut(_ source: String, _ message: String) throws {
        let app = try app(link(source))
        let schema = try app.read()
        #expect(schema.collections[0].relationships.isEmpty)
        #expect(
            schema.notes.map { app.below($0.description) }
                == ["data_sources/main/shop/Pet/relationships.json:\(message)"])
        #expect(schema.notes.map(\.code) == [.linkUnresolved])
    }

    @Test(arguments: [
        (
            #"{"owner": {"ref": "main/shop/Person"}}"#,
            #"1:19: the ref "main/shop/Person" is not #/relationship/<data source>/<database>/<collection>"#
        ),
        (
            ##"{"owner": {"ref": "#/relationship/main//Person"}}"##,
            ##"1:19: the ref "#/relationship/main//Person" is not "##
                + "#/relationship/<data source>/<database>/<collection>"
        ),
        (#"{"owner": {"foreign_key": "_id"}}"#, "1:11: the link has no ref"),
        (#"{"owner": {"metadata": {"database": "shop"}}}"#, "1:24: metadata names no database and collection"),
    ]) func aLinkToNowhereIsNotedAndLeftOut(_ links: String, _ message: String) throws {
        let app = try app(links)
        let schema = try app.read()
        #expect(schema.collections[0].relationships.isEmpty)
        #expect(
            schema.notes.map { app.below($0.description) }
                == ["data_sources/main/shop/Pet/relationships.json:\(message)"])
    }

    @Test func emptyLinksAreNone() throws {
        #expect(try app(#"{"owner": {}}"#).read().collections[0].relationships.isEmpty)
        #expect(try app("{}").read().notes.isEmpty)
    }

    @Test func theOwnNameMustAgree() throws {
        let schema = try app(link("owner", #", "source_key": "other""#)).read()
        #expect(schema.notes.map(\.code) == [.linkUnresolved])
        #expect(schema.collections[0].relationships.count == 1)
        #expect(try app(link("owner", #", "source_key": "owner""#)).read().notes.isEmpty)
    }

    @Test(arguments: [
        ("[]", "1:1: relationships must be an object, not an array"),
        (
            #"{"owner": 1}"#,
            #"1:11: the link of "owner" must be an object, not a number "#
                + "(write ref, foreign_key and is_list)"
        ),
        (#"{"owner": {"ref": 1}}"#, "1:19: ref must be a string, not a number"),
        (
            ##"{"owner": {"ref": "#/relationship/a/b/c", "is_list": "no"}}"##,
            "1:54: is_list must be true or false, not a string"
        ),
    ]) func unreadablePartsAreNamed(_ text: String, _ error: String) throws {
        #expect(try app(text).failure() == "data_sources/main/shop/Pet/relationships.json:\(error)")
    }
}

/// Tests that a path can be read back from the text with which reports show it.
@Suite struct SchemaPathTests {
    @Test(arguments: [
        SchemaPath(), SchemaPath([.field("a")]), SchemaPath([.field("a"), .field("b")]),
        SchemaPath([.field("orders"), .elements, .field("lines"), .elements, .field("price")]),
        SchemaPath([.field("settings"), .values]), SchemaPath([.field("a"), .values, .elements, .field("b")]),
        SchemaPath([.field("a.b"), .field("c[]")]), SchemaPath([.field("")]), SchemaPath([.field("a"), .field("")]),
        SchemaPath([.field("with \"quotes\""), .field("x")]),
    ]) func aShownPathIsRead(_ path: SchemaPath) {
        #expect(SchemaPath(shown: path.description) == path)
    }
}
