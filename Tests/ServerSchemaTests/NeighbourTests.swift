import BSON
import ServerSchema
import Testing

/// Tests that a schema with only one collection of an app still knows the app's other collections, which are its
/// neighbours.
@Suite struct NeighbourTests {
    private let people = Namespace(database: "shop", collection: "Person")

    @Test func oneCollectionOfAnApp() throws {
        let schema = try Fixture.read("pets-app", namespace: pets)
        #expect(schema.collections.map(\.namespace) == [pets])
        #expect(schema.neighbours.map(\.namespace) == [people])
        #expect(schema.isWhole)
    }

    @Test func narrowing() throws {
        var schema = try Fixture.read("pets-app")
        #expect(schema.isWhole && schema.neighbours.isEmpty)
        schema.narrow(to: people)
        #expect(schema.collections.map(\.namespace) == [people])
        #expect(schema.neighbours.map(\.namespace) == [pets])
    }

    @Test func oneFileSaysNothingOfOthers() throws {
        let schema = try ServerSchema.read(text: #"{ "bsonType": "object" }"#, namespace: pets)
        #expect(!schema.isWhole)
    }

    @Test func howMuchACollectionSyncs() throws {
        var schema = try Fixture.read("pets-app")
        var sync = SyncConfiguration(mode: .flexible, location: SourceLocation(whole: "sync/config.json"))
        sync.service = "mongodb-atlas"
        sync.asymmetricTables = ["Pet"]
        schema.sync = sync
        #expect(schema.collections.map { schema.scope(of: $0) } == [.synced, .asymmetric])
        schema.collections[0].service = "archive"
        #expect(schema.collections.map { schema.scope(of: $0) } == [.outside, .asymmetric])
        schema.sync = nil
        #expect(schema.collections.map { schema.scope(of: $0) } == [.synced, .synced])
    }
}
