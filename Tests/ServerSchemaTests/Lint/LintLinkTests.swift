import BSON
import ServerSchema
import Testing

/// Tests the lint rules for links.
@Suite struct LintLinkTests {
    /// Makes an app of people, and of pets that may have an owner, several friends and a dictionary.
    ///
    /// If the link is valid and the other arguments have their default values, the app breaks no lint rule for links.
    private func app(
        _ link: String, source: String = "owner", required: [String] = [], person: String? = nil, sync: String? = nil
    ) throws -> AppFolder {
        let properties = #"""
            "owner": {"bsonType": "objectId"}, "number": {"bsonType": "int"}, "_partition": {"bsonType": "string"},
            "friends": {"bsonType": "array", "items": {"bsonType": "objectId"}},
            "map": {"bsonType": "object", "additionalProperties": {"bsonType": ["objectId", "null"]}}
            """#
        var files = [
            "data_sources/main/config.json": #"{"name": "main", "type": "mongodb-atlas"}"#,
            "data_sources/main/shop/Pet/schema.json": Lint.pet(properties, required: required),
            "data_sources/main/shop/Pet/relationships.json": #"{"\#(source)": \#(link)}"#,
            "data_sources/main/shop/Person/schema.json": person
                ?? Lint.pet(#""n": {"bsonType": "int"}"#, title: "Person"),
        ]
        files["sync/config.json"] = sync
        return try AppFolder(files)
    }

    private func link(
        to target: String = "main/shop/Person", key: String = "_id", isList: Bool = false
    ) -> String {
        ##"{"ref": "#/relationship/\##(target)", "foreign_key": "\##(key)", "is_list": \##(isList)}"##
    }

    @Test(arguments: [("owner", false), ("friends", true), ("friends.[]", false), ("friends.[]", true)])
    func goodLinks(_ source: String, _ isList: Bool) throws {
        let nullable = try app(link(isList: isList), source: source).codes()
        #expect(nullable == ["collection-nullable-items error map{}"])
        // The values of a dictionary of links may be null.
        #expect(try app(link(isList: true), source: "map").codes() == [])
    }

    private func links(_ app: AppFolder) throws -> [String] { try app.codes().filter { $0.hasPrefix("link") } }

    @Test func aLinkIsOptional() throws {
        #expect(try links(app(link(), required: ["owner"])) == ["link-required error owner"])
        #expect(try links(app(link(), required: ["number"])) == [])
    }

    @Test func aKeyIsNoLink() throws { #expect(try links(app(link(), source: "_id")) == ["link-source-id error _id"]) }

    @Test func linksGoToThePrimaryKey() throws {
        #expect(try links(app(link(key: "n"), source: "number")) == ["link-foreign-key error number"])
        #expect(
            try links(app(link(key: "m"), source: "number"))
                == ["link-foreign-key error number", "link-ref-unresolved error number"])
    }

    @Test(arguments: [
        ("main/shop/Persn", #"the link leads to shop.Persn, which has no schema (did you mean "shop.Person"?)"#),
        (
            "main/else/Quite",
            "the link leads to else.Quite, which has no schema (give it one, or remove the link)"
        ),
        ("mian/shop/Person", "the link names the data source mian, but shop.Person is in main (name main)"),
    ]) func aLinkToNowhere(_ target: String, _ message: String) throws {
        #expect(
            try app(link(to: target)).findings(.linkRefUnresolved) == [
                "data_sources/main/shop/Pet/relationships.json:1:2: error link-ref-unresolved: owner: \(message)"
            ])
    }

    @Test func aLinkFromNowhere() throws {
        #expect(
            try app(link(), source: "ownr").findings(.linkRefUnresolved) == [
                "data_sources/main/shop/Pet/relationships.json:1:2: error link-ref-unresolved: the link starts from "
                    + #""ownr", which the schema does not have (did you mean "owner"?)"#
            ])
    }

    @Test func aLinkStaysInItsDataSource() throws {
        let folder = try AppFolder([
            "data_sources/a/shop/Pet/schema.json": Lint.pet(#""owner": {"bsonType": "objectId"}"#),
            "data_sources/a/shop/Pet/relationships.json": #"{"owner": \#(link(to: "b/shop/Person"))}"#,
            "data_sources/b/shop/Person/schema.json": Lint.pet(title: "Person"),
        ])
        #expect(
            try folder.findings(.linkRefUnresolved).first?
                .hasSuffix("shop.Person is in b, and Sync covers one data source (link within a)") == true)
    }

    @Test func theTypesOfBothEndsAgree() throws {
        #expect(try links(app(link(), source: "number")) == ["link-type error number"])
        #expect(try links(app(link(isList: true))) == ["link-type error owner"])
        #expect(try links(app(link(), source: "friends")) == ["link-type error friends"])
        let person = Lint.pet(id: #"{"bsonType": "long"}"#, title: "Person")
        #expect(try links(app(link(), source: "number", person: person)) == [])
        #expect(
            try app(link(), person: person).findings(.linkType).first?
                .hasSuffix(
                    "the link is of type objectId, but _id of shop.Person is of type long (make the types equal)")
                == true)
    }

    @Test func bothEndsLieInOnePartition() throws {
        let sync = #"{"partition": {"key": "_partition", "type": "string"}}"#
        #expect(
            try app(link(), sync: sync).codes().sorted() == [
                "collection-nullable-items error map{}", "link-cross-partition warning owner",
                "partition-key-undefined error (root)",
            ])
        let person = Lint.pet(#""_partition": {"bsonType": "string"}"#, title: "Person")
        #expect(try links(app(link(), person: person, sync: sync)) == [])
    }

    /// If a schema file is read alone, nothing is known about other collections, so lint does not follow its links.
    @Test func aLinkOfOneFileIsNotFollowed() throws {
        let folder = try AppFolder([
            "pet.json": #"""
            {"database": "shop", "collection": "Pet", "schema": \#(Lint.pet(#""owner": {"bsonType": "objectId"}"#)),
             "relationships": {"owner": \#(link())}}
            """#
        ])
        let schema = try ServerSchema.readForLint(at: "\(folder.path)/pet.json")
        #expect(schema.collections[0].relationships.count == 1)
        #expect(SchemaLint.findings(in: schema) == [])
    }
}
