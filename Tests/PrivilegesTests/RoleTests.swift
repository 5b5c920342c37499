import BSON
import Mongo
import Testing

@testable import Privileges

/// Tests that a role grants the privileges in the table of commands, and names each resource only once.
@Suite struct RoleTests {
    private func role(_ command: String, isFull: Bool = false) throws -> Role {
        var places = WorkPlaces(state: "jobs")
        places.add([Namespace(database: "app", collection: "it's \"x\"")], to: .data)
        return Role(try #require(CommandNeeds.of(command)), on: places, isFull: isFull)
    }

    @Test func inTheShell() throws {
        #expect(
            try role("status", isFull: true).mongosh() == #"""
                db.getSiblingDB("admin").createRole({
                  role: "shipshape-status",
                  privileges: [
                    // reads the state
                    { resource: { db: "jobs", collection: "" }, actions: ["find"] },
                    // counts the collection
                    { resource: { db: "app", collection: "it's \"x\"" }, actions: ["find"] },
                  ],
                  roles: []
                })
                """#)
    }

    @Test func forAtlasItIsJSONWithAtlasNames() throws {
        let (json, missing) = try role("backfill --dry-run", isFull: true).atlas()
        let document = try BSONDocument(extendedJSON: json)
        #expect(document["roleName"]?.text == "shipshape-backfill-dry-run")
        let actions = document["actions"]?.document?.values.compactMap { $0.document?["action"]?.text } ?? []
        #expect(
            Set(actions) == [
                "FIND", "LIST_COLLECTIONS", "LIST_INDEXES", "COLL_STATS", "SERVER_STATUS", "REPLSET_GET_STATUS",
            ])
        #expect(missing.isEmpty)
    }

    @Test func everyActionOfTheTableHasAnAtlasNameOrIsNamed() throws {
        var places = WorkPlaces()
        for place in Place.allCases { places.add([.database("x")], to: place) }
        let missing = CommandNeeds.all.flatMap { Role($0, on: places, isFull: true).atlas().missing }
        #expect(Set(missing) == ["indexStats"])
    }

    @Test func withoutFullARoleHasWhatTheCommandCannotDoWithout() throws {
        let role = try role("check")
        #expect(role.grants.map(\.actions) == [["find"]])
        let full = try self.role("check", isFull: true)
        #expect(full.grants.flatMap(\.actions).contains("changeStream"))
    }
}
