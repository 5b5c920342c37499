import BSON
import Mongo
import Testing

@testable import Privileges

/// Tests that a user's privileges are judged as the server judges them.
@Suite struct UserPrivilegesTests {
    private func user(_ resource: BSONValue, _ actions: BSONValue = ["find"]) throws -> UserPrivileges {
        let info: BSONValue = [
            "authenticatedUsers": [["user": "ada", "db": "admin"]],
            "authenticatedUserPrivileges": [["resource": resource, "actions": actions]],
        ]
        return try #require(UserPrivileges(connectionStatus: ["authInfo": info]))
    }

    private let person = PrivilegeResource.collection(Namespace(database: "app", collection: "person"))
    private let views = PrivilegeResource.collection(Namespace(database: "app", collection: "system.views"))

    @Test(
        arguments: [
            (["db": "app", "collection": "person"], true, false, false),
            (["db": "app", "collection": "dog"], false, false, false),
            (["db": "app", "collection": ""], true, true, false),
            (["db": "", "collection": "person"], true, false, false),
            (["db": "", "collection": ""], true, true, false),
            (["db": "other", "collection": ""], false, false, false),
            (["cluster": true], false, false, true), (["anyResource": true], true, true, true),
        ] as [(BSONValue, Bool, Bool, Bool)])
    func aResourceCoversWhatTheServerLetsItCover(
        _ granted: BSONValue, _ collection: Bool, _ database: Bool, _ cluster: Bool
    ) throws {
        let user = try user(granted)
        #expect(user.allow("find", on: person) == collection)
        #expect(user.allow("find", on: .database("app")) == database)
        #expect(user.allow("find", on: .cluster) == cluster)
        #expect(!user.allow("update", on: person))
    }

    @Test func aWholeDatabaseLeavesTheServersOwnCollectionsOut() throws {
        #expect(try !user(["db": "app", "collection": ""]).allow("find", on: views))
        #expect(try user(["db": "app", "collection": "system.views"]).allow("find", on: views))
    }

    @Test func withoutALoginNoPrivilegesAreChecked() {
        let info: BSONValue = ["authenticatedUsers": [], "authenticatedUserPrivileges": []]
        #expect(UserPrivileges(connectionStatus: ["authInfo": info]) == nil)
    }

    @Test func missingPrivilegesAreNamedByActionAndResource() throws {
        let needs = try #require(CommandNeeds.of("job pause"))
        let missing = try #require(
            MissingPrivileges(
                of: try user(["db": "jobs", "collection": ""]), for: needs, on: WorkPlaces(state: "jobs")))
        #expect(
            missing.description
                == "the user \"ada\" lacks privileges for job pause, and nothing was done: missing update on "
                + "jobs.jobs (shipshape grants job pause prints the role)")
        let all = try user(["db": "jobs", "collection": ""], ["find", "update"])
        #expect(MissingPrivileges(of: all, for: needs, on: WorkPlaces(state: "jobs")) == nil)
    }
}
