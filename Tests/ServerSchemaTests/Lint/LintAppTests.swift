import BSON
import ServerSchema
import Testing

/// Tests the lint rules for the app, its partitions and its deployment.
@Suite struct LintAppTests {
    private func app(
        _ pet: String = Lint.pet(#""p": {"bsonType": "string"}"#), sync: String? = nil,
        source: String = #"{"name": "main", "type": "mongodb-atlas"}"#, place: String = "shop/Pet"
    ) throws -> AppFolder {
        var files = ["data_sources/main/config.json": source, "data_sources/main/\(place)/schema.json": pet]
        files["sync/config.json"] = sync
        return try AppFolder(files)
    }

    @Test(arguments: [
        (#"{"key": "p", "type": "string"}"#, []),
        (#"{"key": "q", "type": "string"}"#, ["partition-key-undefined error (root)"]),
        (#"{"key": "p", "type": "long"}"#, ["partition-key-type error p"]),
        (#"{"key": "n", "type": "int"}"#, []),
        (#"{"key": "d", "type": "double"}"#, ["partition-key-type error (root)"]),
        (#"{"key": "m", "type": "string"}"#, ["partition-key-type error m"]),
    ]) func partitions(_ partition: String, _ codes: [String]) throws {
        let pet = Lint.pet(
            #""p": {"bsonType": "string"}, "n": {"bsonType": "long"}, "d": {"bsonType": "double"}, "m": {"bsonType": "mixed"}"#
        )
        #expect(try app(pet, sync: #"{"partition": \#(partition)}"#).codes() == codes)
    }

    @Test(arguments: [
        (#"{"name": "main", "type": "mongodb-atlas"}"#, []),
        (#"{"name": "main", "type": "datalake"}"#, ["datasource-type error (root)"]),
        (#"{"name": "prod", "type": "mongodb-atlas"}"#, ["datasource-name warning (root)"]),
    ]) func dataSources(_ source: String, _ codes: [String]) throws {
        #expect(try app(source: source).codes() == codes)
    }

    @Test func spacesInNames() throws {
        #expect(try app(place: "shop/My Pet").codes() == ["namespace-space error (root)"])
        #expect(try app(place: "my shop/Pet").codes() == ["namespace-space error (root)"])
        #expect(try app(place: "my_shop/My-Pet").codes() == [])
    }

    @Test func schemasThatSyncHaveNoFindings() throws {
        let flexible = #"{"type": "flexible", "queryable_fields_names": ["p"], "service_name": "NAME"}"#
        func codes(_ name: String) throws -> [String] {
            try app(sync: flexible.split(separator: "NAME").joined(separator: name)).codes()
        }
        #expect(try codes("main") == [])
        #expect(
            try codes("mian").sorted() == [
                "queryable-unknown warning (root)", "schema-missing error (root)", "service-not-synced info (root)",
                "sync-service-unknown error (root)",
            ])
        let development = #"{"type": "flexible", "queryable_fields_names": ["p"], "development_mode_enabled": true}"#
        #expect(try app(sync: development).codes() == ["development-mode warning (root)"])
    }

    private func codes(
        _ kind: DeploymentFacts.Kind = .replicaSet, _ version: [Int] = [6, 0, 5], sync: String? = nil,
        _ collection: DeploymentFacts.Collection = .init()
    ) throws -> [String] {
        var facts = DeploymentFacts(source: "mongodb://host", kind: kind, version: version)
        facts.collections[pets] = collection
        return Lint.short(SchemaLint.findings(in: try app(sync: sync).readForLint(), deployment: facts))
    }

    @Test(arguments: [
        (DeploymentFacts.Kind.replicaSet, []), (.sharded, ["datasource-type error (root)"]),
        (.serverless, ["datasource-type error (root)"]), (.standalone, ["datasource-type error (root)"]),
    ]) func deployments(_ kind: DeploymentFacts.Kind, _ expected: [String]) throws {
        #expect(try codes(kind) == expected)
    }

    @Test func versions() throws {
        let flexible = #"{"type": "flexible", "queryable_fields_names": ["p"]}"#
        let partition = #"{"partition": {"key": "p", "type": "string"}}"#
        #expect(try codes(.replicaSet, [4, 4, 29], sync: flexible) == ["mongodb-version error (root)"])
        #expect(try codes(.replicaSet, [5, 0, 0], sync: flexible) == [])
        #expect(try codes(.replicaSet, [4, 2, 1], sync: partition) == ["mongodb-version error (root)"])
        #expect(try codes(.replicaSet, [4, 4, 0], sync: partition) == [])
    }

    @Test func timeSeries() throws {
        var collection = DeploymentFacts.Collection()
        collection.isTimeSeries = true
        #expect(try codes(collection) == ["time-series error (root)"])
        let ingest = #"{"type": "flexible", "asymmetric_tables": ["Pet"]}"#
        #expect(try codes(sync: ingest, collection) == [])
    }

    @Test func uniqueIndexes() throws {
        var collection = DeploymentFacts.Collection()
        collection.uniqueIndexes = ["email_1"]
        #expect(try codes(collection) == ["unique-conflict info (root)"])
        collection.uniqueIndexes = []
        #expect(try codes(collection) == [])
    }

    /// App Services accepts an app without schemas, so lint has findings about it and does not refuse it.
    @Test func appsWithoutSchemas() throws {
        #expect(try app("{}").codes() == ["schema-missing info (root)", "schema-missing info (root)"])
        let bare = ["data_sources/main/config.json": #"{"name": "main", "type": "mongodb-atlas"}"#]
        #expect(try AppFolder(bare).codes() == ["schema-missing info (root)"])
        for service in ["", #", "service_name": "main""#] {
            let sync = ["sync/config.json": #"{"type": "flexible", "queryable_fields_names": []\#(service)}"#]
            #expect(
                try AppFolder(bare.merging(sync) { $1 }).codes() == [
                    "schema-missing info (root)", "schema-missing error (root)",
                ])
        }
        #expect(try app("{}").failure()?.contains("every schema here is a placeholder") == true)
    }

    @Test func oneNameInTwoDataSources() throws {
        let twice = ["data_sources/main/shop/Pet/schema.json", "data_sources/test/shop/Pet/schema.json"]
        let folder = try AppFolder(Dictionary(uniqueKeysWithValues: twice.map { ($0, Lint.pet()) }))
        #expect(try folder.findings(.serviceNotSynced).count == 1)
        #expect(try folder.readForLint().collections.map(\.service) == ["main"])
        #expect(folder.failure()?.contains("has two schemas") == true)
    }

    static let validators: [(BSONDocument, Int)] = [
        (["$jsonSchema": ["required": ["a"], "properties": ["required": ["bsonType": "string"]]]], 0),
        (["$jsonSchema": ["properties": ["a": ["bsonType": "object", "required": ["b"]]]]], 1),
        (["$jsonSchema": ["properties": ["a": ["bsonType": "array", "items": ["required": ["b"]]]]]], 1),
        (["$jsonSchema": ["properties": ["a": ["bsonType": "array", "minItems": 1]]]], 1),
        (["a": ["$exists": true], "b": ["$exists": true]], 1),
    ]

    @Test(arguments: validators) func validatorsOfMongoDB(_ validator: BSONDocument, _ count: Int) throws {
        var collection = DeploymentFacts.Collection()
        collection.validator = validator
        collection.refuses = false
        let expected = [String](repeating: "native-validator warning (root)", count: count)
        #expect(try codes(collection) == expected)
        collection.refuses = true
        #expect(try codes(collection) == expected + ["native-validator warning (root)"])
    }

    private func codes(_ collection: DeploymentFacts.Collection) throws -> [String] {
        try codes(.replicaSet, [6, 0, 5], collection)
    }

    private func codes(sync: String, _ collection: DeploymentFacts.Collection) throws -> [String] {
        try codes(.replicaSet, [6, 0, 5], sync: sync, collection)
    }
}
