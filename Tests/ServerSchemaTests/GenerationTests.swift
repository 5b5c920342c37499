import BSON
import ServerSchema
import Testing

/// Tests complete exports of each generation of App Services, which contain schemas and other files.
@Suite struct GenerationTests {
    private func namespaces(_ schema: ServerSchema) -> [String] { schema.collections.map(\.namespace.description) }

    @Test func theCurrentOneWithTemplates() throws {
        let schema = try Fixture.read("harbour-app")
        #expect(namespaces(schema) == ["fleet.Ship", "people.Sailor"])
        #expect(schema.collections.map(\.service) == ["atlas-main", "atlas-main"])
        #expect(schema.dataSources.map(\.name) == ["atlas-main", "warehouse"])
        #expect(schema.dataSources.map(\.folder) == ["atlas", "warehouse"])
        #expect(schema.dataSources.map(\.isFederated) == [false, true])
        #expect(schema.clientAppID == "harbour-qwert")
        let sync = try #require(schema.sync)
        #expect(sync.mode == .flexible)
        #expect(sync.state == .enabled)
        #expect(sync.service == "atlas-main")
        #expect(sync.queryableFields == ["harbour"])
        #expect(sync.indexedQueryableFields == ["harbour"])
        #expect(sync.collectionQueryableFields == ["Ship": ["captain"]])
        #expect(sync.clientMaximumOfflineDays == 30)
        #expect(Fixture.below(sync.place(of: "queryable_fields_names.harbour").description).hasSuffix(":10:32"))
        #expect(schema.rules.isEmpty)
    }

    @Test func itsLinks() throws {
        let ship = try #require(try Fixture.read("harbour-app")[Namespace(database: "fleet", collection: "Ship")])
        #expect(ship.relationships.map(\.source.description) == ["captain", "crew", "cabins[].guest", "deputies{}"])
        #expect(ship.relationships.map(\.isList) == [false, true, false, false])
        #expect(Set(ship.relationships.map(\.target.description)) == ["people.Sailor"])
        #expect(Set(ship.relationships.map(\.service)) == ["atlas-main"])
        #expect(Set(ship.relationships.map(\.foreignKey)) == ["_id"])
    }

    @Test func lintReadsTheRulesToo() throws {
        let schema = try ServerSchema.readForLint(at: "\(Fixture.folder)/harbour-app")
        #expect(schema.rules.map { $0.namespace?.description } == ["fleet.Ship", "people.Log", nil])
        #expect(schema.rules.map(\.service) == ["atlas-main", "atlas-main", "atlas-main"])
    }

    @Test func theOneBeforeWithPartitions() throws {
        let schema = try Fixture.read("lighthouse-app")
        #expect(namespaces(schema) == ["coast.Keeper"])
        #expect(schema.notes.map(\.code) == [.placeholder])
        #expect(schema.notes.first?.namespace?.description == "coast.Draft")
        let sync = try #require(schema.sync)
        #expect(sync.mode == .partition(.init(field: "_partition", type: .string, isRequired: true)))
        #expect(sync.state == .enabled)
        #expect(sync.isInDevelopment)
        #expect(sync.clientMaximumOfflineDays == 60)
    }

    @Test func theLegacyOneWithServices() throws {
        let schema = try Fixture.read("tracker-app")
        #expect(namespaces(schema) == ["tracker.Task", "tracker.User"])
        #expect(schema.notes.filter { $0.code == .placeholder }.map { $0.namespace?.collection } == ["User.archive"])
        #expect(schema.appName == "tracker")
        #expect(schema.clientAppID == "tracker-asdfg")
        #expect(schema.dataSources.map(\.name) == ["mongodb-atlas", "web"])
        let task = schema.collections[0]
        #expect(task.root.title == "Task")
        #expect(task.service == "mongodb-atlas")
        #expect(task.relationships.map(\.source.description) == ["owner"])
        #expect(task.root.location.line == 11)
        let sync = try #require(schema.sync)
        #expect(sync.mode == .partition(.init(field: "_partition", type: .string)))
        #expect(sync.state == .enabled)
        #expect(sync.service == "mongodb-atlas")
        #expect(
            schema.sources.map(\.path) == [
                "config.json", "services/mongodb-atlas/rules/tracker.Task.json",
                "services/mongodb-atlas/rules/tracker.User.archive.json",
                "services/mongodb-atlas/rules/tracker.User.json",
            ])
    }

    @Test func theOldestOne() throws {
        let schema = try Fixture.read("stitch-app")
        #expect(namespaces(schema) == ["shop.customers"])
        #expect(schema.collections[0].service == "mongodb-atlas")
        #expect(schema.collections[0].root.types == [.object])
        #expect(schema.appName == "shopfront")
        #expect(schema.sync == nil)
    }

    @Test(arguments: [
        ("tracker-app/services/mongodb-atlas/rules/tracker.Task.json", ["tracker.Task"]),
        ("tracker-app/services/mongodb-atlas/rules", ["tracker.Task", "tracker.User"]),
        ("harbour-app/data_sources/warehouse/../../data_sources/atlas/people/Sailor/schema.json", ["people.Sailor"]),
    ]) func partsOfAnExport(_ path: String, _ expected: [String]) throws {
        #expect(namespaces(try Fixture.read(path)) == expected)
    }

    /// If two data sources have a schema of the same collection, the reader uses the data source that syncs.
    @Test func ofTwoDataSourcesTheSyncedOneCounts() throws {
        func pet(_ title: String) -> String { #"{"title": "\#(title)", "properties": {"_id": {"bsonType": "int"}}}"# }
        var files = [
            "data_sources/a/shop/Pet/schema.json": pet("A"), "data_sources/b/shop/Pet/schema.json": pet("B"),
        ]
        #expect(try AppFolder(files).failure()?.contains("shop.Pet has two schemas") == true)
        files["sync/config.json"] = #"{"type": "flexible", "service_name": "b"}"#
        let folder = try AppFolder(files)
        let schema = try folder.read()
        #expect(schema.collections.map(\.root.title) == ["B"])
        #expect(
            schema.notes.map { folder.below($0.description) } == [
                "data_sources/a/shop/Pet/schema.json: shop.Pet is also in the data source b, which syncs: this schema "
                    + "is not used"
            ])
    }

    @Test func servicesWithoutAConfiguration() throws {
        let rules =
            #"{"database": "shop", "collection": "Pet", "schema": {"properties": {"_id": {"bsonType": "int"}}}}"#
        let folder = try AppFolder([
            "root_config.json": "", "app/services/main/rules/shop.Pet.json": rules,
            "app/services/mail/rules/send.json": "{}",
        ])
        #expect(namespaces(try ServerSchema.read(at: "\(folder.path)/app")) == ["shop.Pet"])
    }

    @Test func aCollectionOfALegacyExportCanBeNamed() throws {
        let user = Namespace(database: "tracker", collection: "User")
        #expect(namespaces(try Fixture.read("tracker-app", namespace: user)) == ["tracker.User"])
        let typo = Namespace(database: "tracker", collection: "Usre")
        #expect(
            Fixture.failure("tracker-app", namespace: typo)
                == #"tracker-app: there is no schema of tracker.Usre here (did you mean "tracker.User"?)"#)
    }

    /// The reader accepts a schema in the form of the Admin API, which puts the schema into an object that names its
    /// collection.
    @Test func aSchemaObjectOfTheAdminAPI() throws {
        let folder = try AppFolder([
            "pet.json": """
            {"_id": "5f0000000000000000000001",
             "metadata": {"data_source": "main", "database": "shop", "collection": "Pet"},
             "schema": {"title": "Pet", "properties": {"_id": {"bsonType": "string"}}}, "relationships": {}}
            """
        ])
        let schema = try ServerSchema.read(at: "\(folder.path)/pet.json")
        #expect(namespaces(schema) == ["shop.Pet"])
        #expect(schema.collections[0].service == "main")
        #expect(schema.collections[0].root.title == "Pet")
    }

    /// The reader refuses a database or collection name that no server accepts, or that has a control character, so
    /// that the name does not get into jobs, commands and reports.
    @Test(arguments: [
        ("a/b", "c"), ("a\\u001b[2J", "c"), ("a\\nb", "c"), ("a.b", "c"), ("a", "c\\u0000d"),
        ("a\\u0000", "c"),
    ])
    func aRulesFileThatNamesWhatNoServerHas(_ database: String, _ collection: String) throws {
        let schema = "{\"properties\": {\"_id\": {\"bsonType\": \"objectId\"}}}"
        let folder = try AppFolder([
            "services/mongodb-atlas/rules/a.json":
                "{\"database\": \"\(database)\", \"collection\": \"\(collection)\", \"schema\": \(schema)}"
        ])
        let error = try #require(throws: SchemaError.self) { try folder.read() }
        #expect(error.code == .namespaceUnknown)
        #expect(error.message.hasSuffix(" cannot be the name of a database and a collection"))
        #expect("\(error)".unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    }
}
