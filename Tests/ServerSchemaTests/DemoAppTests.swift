import BSON
import ServerSchema
import SystemPackage
import Testing

/// Tests that the reader adds no notes when it reads the demo's two exports, because users see these exports first.
@Suite struct DemoAppTests {
    private func read(_ version: String) throws -> ServerSchema {
        let root = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
        return try ServerSchema.read(at: root.appending("scripts/demo-app/\(version)").string)
    }

    @Test(arguments: ["v1", "v2"]) func anExportReadsWithoutSurprise(_ version: String) throws {
        let schema = try read(version)
        #expect(schema.collections.map(\.namespace.description) == ["app.Dog", "app.Note", "app.Person", "app.Task"])
        #expect(schema.collections.map(\.root.title) == ["Dog", "Note", "Person", "Task"])
        #expect(schema.clientAppID == "demo-ahoyx")
        #expect(schema.notes.map(\.code) == [])
    }

    @Test func theNextVersionAsksForMore() throws {
        let (old, new) = (try read("v1"), try read("v2"))
        func added(_ path: [String], _ collection: String) throws -> [String] {
            let namespace = Namespace(database: "app", collection: collection)
            let before = try #require(old[namespace]?.root.node(at: path)).required
            return try #require(new[namespace]?.root.node(at: path)).required.filter { !before.contains($0) }
        }
        #expect(try added([], "Person") == ["email", "yearsSinceBirth"])
        #expect(try added(["address"], "Person") == ["country"])
        #expect(try added([], "Dog") == ["weight"])
        #expect(try added([], "Task") == ["assignee"])
        #expect(try added([], "Note") == [])
    }
}
