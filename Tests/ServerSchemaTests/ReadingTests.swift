import BSON
import ServerSchema
import Testing

@Suite struct ReadingTests {
    @Test func anAppOfTheCurrentGeneration() throws {
        let schema = try Fixture.read("pets-app")
        #expect(schema.dialect == .appServices)
        #expect(schema.collections.map(\.namespace.description) == ["shop.Person", "shop.Pet"])
        #expect(schema.appName == "pets")
        #expect(schema.clientAppID == "pets-xkqzr")
        #expect(schema.appID == nil)
        #expect(
            schema.sources.map(\.path) == [
                "data_sources/mongodb-atlas/shop/Audit/schema.json",
                "data_sources/mongodb-atlas/shop/Person/relationships.json",
                "data_sources/mongodb-atlas/shop/Person/schema.json",
                "data_sources/mongodb-atlas/shop/Pet/relationships.json",
                "data_sources/mongodb-atlas/shop/Pet/schema.json",
                "root_config.json",
            ])
        let folder = "pets-app/data_sources/mongodb-atlas/shop"
        #expect(
            schema.notes.map { Fixture.below($0.description) } == [
                "\(folder)/Audit/schema.json:1:1: {} is a placeholder: the collection has no schema",
                "\(folder)/Person/schema.json:3:11: type is kept for compatibility: write bsonType",
                "\(folder)/Person/schema.json:9:29: bsonType \"float\" is read as \"double\"",
            ])
    }

    @Test func shapesAreReported() throws {
        let person = try #require(try Fixture.read("pets-app")[Namespace(database: "shop", collection: "Person")]).root
        #expect(person.title == "Person")
        #expect(person.requires("firstName"))
        #expect(person.property("age")?.defaultValue == .int(18))
        #expect(person.node(at: ["address"])?.isEmbedded == true)
        #expect(person.node(at: ["address", "geo", "[]"])?.types == [.double])
        #expect(person.node(at: ["address", "geo", "0"])?.types == [.double])
        #expect(person.node(at: ["address", "street"]) == nil)
        #expect(person.property("labels")?.isSet == true)
        #expect(person.property("settings")?.isDictionary == true)
        #expect(person.node(at: ["scores", "{}"])?.types == [.long])
        #expect(person.property("scores")?.isDictionary == true)
        #expect(person.property("anything")?.isDictionary == true)
        #expect(person.node(at: ["anything", "x"]) == nil)
    }

    @Test func aRootWithoutATypeIsAnObject() throws {
        let pet = try Fixture.read("pets-app").collections[1].root
        #expect(pet.types == [.object])
        #expect(pet.node(at: ["toys", "[]"])?.title == "Toy")
        #expect(pet.node(at: ["toys", "[]"])?.required == ["label"])
        #expect(pet.node(at: ["toys"])?.isList == true)
    }

    @Test func anAppOfTheGenerationBefore() throws {
        let schema = try Fixture.read("older-app")
        #expect(schema.appID == "5f60207f14dfb25d23101102")
        #expect(schema.clientAppID == nil)
        #expect(schema.collections.map(\.namespace.description) == ["todo.Item"])
        let root = schema.collections[0].root
        #expect(root.property("due")?.defaultValue == .date(milliseconds: 1_614_592_800_250))
        #expect(root.property("blob")?.types == [.binData])
    }

    @Test(arguments: [
        ("flat", ["shop.Pet", "shop.order.lines"], ["shop.Pet.json", "shop.order.lines.json"]),
        ("nested", ["shop.Pet"], ["shop/Pet/schema.json"]),
        ("nested/", ["shop.Pet"], ["shop/Pet/schema.json"]),
        ("pets-app/data_sources/mongodb-atlas/shop/Pet/schema.json", ["shop.Pet"], ["schema.json"]),
        ("older-app/data_sources", ["todo.Item"], ["cluster-1/todo/Item/schema.json"]),
        ("older-app/data_sources/cluster-1", ["todo.Item"], ["todo/Item/schema.json"]),
    ]) func otherPlacesForSchemas(_ path: String, _ namespaces: [String], _ sources: [String]) throws {
        let schema = try Fixture.read(path)
        #expect(schema.collections.map(\.namespace.description) == namespaces)
        #expect(schema.sources.map(\.path) == sources)
    }

    @Test func aCollectionCanBeNamed() throws {
        let other = Namespace(database: "a", collection: "B")
        #expect(try Fixture.read("flat/shop.Pet.json", namespace: other).collections.map(\.namespace) == [other])
        let one = try Fixture.read("flat", namespace: pets)
        #expect(one.collections.map(\.namespace) == [pets])
        #expect(one.sources.map(\.path) == ["shop.Pet.json"])
    }

    @Test(arguments: [
        ("absent", "absent: there is no such file or folder (check the path)"),
        (
            "flat/package.json/x",
            "flat/package.json/x: this cannot be read: Not a directory (check the path and its permissions)"
        ),
        (
            "no-schema",
            "no-schema: the app has no schema (schemas are in "
                + "data_sources/<service>/<database>/<collection>/schema.json; in legacy exports, in "
                + "services/<service>/rules)"
        ),
        (
            "no-schema/functions",
            "no-schema/functions: the folder holds no schema (give an app folder with root_config.json, "
                + "<database>.<collection>.json files, or one schema.json with --collection)"
        ),
        (
            "placeholder",
            "placeholder: every schema here is a placeholder (the first is "
                + "placeholder/data_sources/mongodb-atlas/shop/Pet/schema.json)"
        ),
        (
            "twice",
            "twice/data_sources/b/shop/Pet/schema.json: shop.Pet has two schemas (the other is "
                + "twice/data_sources/a/shop/Pet/schema.json; give a folder that holds one of them)"
        ),
        (
            "flat/shop.Pet.json",
            "flat/shop.Pet.json: the file does not say which collection it covers (give --collection DB.COLL)"
        ),
    ]) func unreadablePartsAreNamed(_ path: String, _ error: String) {
        #expect(Fixture.failure(path) == error)
    }

    @Test func aCollectionThatIsNotThereIsNamed() {
        let typo = Namespace(database: "shop", collection: "Pets")
        #expect(
            Fixture.failure("flat", namespace: typo)
                == #"flat: there is no schema of shop.Pets here (did you mean "shop.Pet"?)"#)
    }
}
