import BSON
import Checking
import ServerSchema

extension Namespace {
    static let people = Namespace(database: "app", collection: "Person")
    static let pets = Namespace(database: "app", collection: "Pet")
}

extension CollectionSchema {
    init(_ namespace: Namespace, _ properties: KeyValuePairs<String, SchemaNode>, required: [String] = []) {
        self.init(namespace: namespace, root: .object(properties, required: required))
    }

    /// Returns the schema with links from these paths to the collection `pets`.
    func linked(_ sources: SchemaPath...) -> CollectionSchema {
        var schema = self
        schema.relationships = sources.map {
            Relationship(source: $0, target: .pets, location: SchemaNode.nowhere)
        }
        return schema
    }
}

extension ServerSchema {
    /// Makes the schema of an app that syncs these collections.
    init(_ collections: CollectionSchema..., mode: SyncConfiguration.Mode = .flexible) {
        self.init(dialect: .appServices, collections: collections)
        sync = SyncConfiguration(mode: mode, location: SchemaNode.nowhere)
        isWhole = true
    }

    /// Returns the first collection's schema, compiled as a part of the app.
    func compiled() -> CompiledSchema { CompiledSchema(collections[0], of: self) }
}
