import BSON
import TestSupport
import Testing

/// Tests how `check` uses the settings of an app: its partitions, its links, and which collections it syncs.
@Suite struct CommandLineSyncTests {
    private static let person = """
        { "title": "Person", "bsonType": "object", "required": ["_id"], "properties": {
          "_id": { "bsonType": "int" }, "_partition": { "bsonType": "string" }, "any": { "bsonType": "mixed" },
          "pets": { "bsonType": "array", "items": { "bsonType": "int" } } } }
        """
    private static let pet = """
        { "title": "Pet", "bsonType": "object", "required": ["_id", "name"], "properties": {
          "_id": { "bsonType": "int" }, "name": { "bsonType": "string" } } }
        """
    private static let flexible = #"{ "type": "flexible", "state": "enabled", "service_name": "atlas" }"#

    private func links(_ database: TestDatabase) -> String {
        let ref = "#/relationship/atlas/\(database.name)/Pet"
        return #"{ "pets": { "ref": "\#(ref)", "foreign_key": "_id", "is_list": true } }"#
    }

    /// Runs a check of an app with two collections, `Person` and `Pet`, that hold these documents.
    private func check(
        people: [BSONDocument], pets: [BSONDocument], sync: String = flexible, petService: String = "atlas",
        _ more: [String] = []
    ) async throws -> ProgramRun {
        let mongod = try await Mongod.shared
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        return try await mongod.withDatabase { database in
            try await database.fill("Person", people)
            try await database.fill("Pet", pets)
            let app = try folder.app(
                database, sync: sync,
                ["Person": (Self.person, links(database)), "\(petService)/Pet": (Self.pet, "{}")])
            return try await Program.run(["check", app, "--uri", mongod.uri, "SHIPSHAPE_LEDGER=none"] + more)
        }
    }

    @Test func partitions() async throws {
        let sync = """
            { "service_name": "atlas", "partition": { "key": "_partition", "type": "string", "required": true } }
            """
        let run = try await check(
            people: [["_id": 1, "_partition": "a"], ["_id": 2], ["_id": 3, "_partition": 7]],
            pets: [["_id": 1, "name": "Rex", "_partition": "a"]], sync: sync)
        #expect(run.exitCode == 1)
        #expect(run.output.contains("partition-missing  _partition  string    missing"))
        #expect(run.output.contains("partition-type     _partition  string    int"))
        #expect(run.output.hasPrefix("2 documents would stop syncing."))
    }

    @Test func followedLinks() async throws {
        let people: [BSONDocument] = [
            ["_id": 1, "pets": [1, 1]], ["_id": 2, "pets": [1, 9, 8]], ["_id": 3, "pets": [2, 2]], ["_id": 4],
            ["_id": 5, "pets": ["x"]],
        ]
        let pets: [BSONDocument] = [["_id": 1, "name": "Rex"], ["_id": 2]]
        let plain = try await check(people: people, pets: pets)
        #expect(!plain.output.contains("link-dangling"))
        #expect(plain.output.contains(/link-type +pets/))
        let run = try await check(people: people, pets: pets, ["--follow-links", "--filters"])
        #expect(run.exitCode == 1)
        #expect(run.output.contains("link-dangling           pets[]  link to"))
        #expect(run.output.contains("link-target-unsyncable  pets[]  link to"))
        #expect(run.output.contains(/link-dangling .* 2\n/))
        #expect(run.output.contains(/link-target-unsyncable .* 3\n/))
        #expect(run.output.hasPrefix("2 documents would stop syncing: Person 1, Pet 1.\n"))
        #expect(run.output.contains("  // finds more than these"))
    }

    @Test func linksOfManyDocumentsAreFollowedInBatches() async throws {
        let people = (0..<3_000).map { id -> BSONDocument in
            ["_id": .integer(id), "pets": [.integer(id % 7), .integer(id)]]
        }
        let pets = (0..<2_000).map { ["_id": .integer($0), "name": "Rex"] as BSONDocument }
        let run = try await check(people: people, pets: pets, ["--follow-links", "SHIPSHAPE_THREADS=3"])
        #expect(run.exitCode == 0)
        #expect(run.output.contains(/1,000 +33.4% +info +link-dangling +pets/))
    }

    @Test func aDumpHasNoIndexToFollowLinksWith() async throws {
        let run = try await Program.run(["check", "x", "--source", "y", "--follow-links"])
        #expect(run.exitCode == 64)
        #expect(run.errors.contains("--source excludes --follow-links"))
    }

    @Test func collectionsThatClientsOnlyWriteToAreNotInTheVerdict() async throws {
        let sync = """
            { "type": "flexible", "service_name": "atlas", "asymmetric_tables": ["Pet"] }
            """
        let run = try await check(people: [["_id": 1]], pets: [["_id": 1]], sync: sync)
        #expect(run.exitCode == 0)
        #expect(run.output.hasPrefix("0 documents would stop syncing.\n"))
        #expect(run.output.contains(".Pet (clients only write to it: not in the verdict): 1 document read"))
        #expect(run.output.contains("2 documents of "))
        let counted = try await check(
            people: [["_id": 1]], pets: [["_id": 1]], sync: sync, ["SHIPSHAPE_INCLUDE_ASYMMETRIC=true"])
        #expect(counted.exitCode == 1)
        #expect(counted.output.hasPrefix("1 document would stop syncing."))
    }

    @Test func collectionsOfAnotherDataSourceAreNotInTheVerdict() async throws {
        let run = try await check(people: [["_id": 1]], pets: [["_id": 1]], petService: "archive")
        #expect(run.exitCode == 0)
        #expect(run.output.contains(".Pet (outside the synced data source: not in the verdict): 1 document read"))
    }

    @Test func assumptionsThatOnlyTheOperatorKnows() async throws {
        let people: [BSONDocument] = [["_id": 1, "any": [1]], ["_id": 2, "_partition": nil]]
        #expect(try await check(people: people, pets: []).exitCode == 0)
        let mixed = try await check(people: people, pets: [], ["SHIPSHAPE_MIXED_COLLECTIONS=off"])
        #expect(mixed.exitCode == 1)
        #expect(mixed.output.contains("mixed-collection  any"))
        #expect(try await check(people: people, pets: [], ["SHIPSHAPE_NULL_TYPES=on", "--strict"]).exitCode == 0)
        let nulls = try await check(people: people, pets: [], ["SHIPSHAPE_NULL_TYPES=off", "--strict"])
        #expect(nulls.exitCode == 1)
        #expect(nulls.output.hasPrefix("1 document might stop syncing."))
        #expect(try await check(people: people, pets: [], ["SHIPSHAPE_NULL_TYPES=off"]).exitCode == 0)
    }

    @Test func referencesInMixedValues() async throws {
        let people: [BSONDocument] = [
            ["_id": 1, "any": ["$ref": "Pet", "$id": 1]], ["_id": 2, "any": ["$ref": "Ghost", "$id": 1]],
        ]
        let run = try await check(people: people, pets: [["_id": 1, "name": "Rex"]])
        #expect(run.exitCode == 0)
        #expect(run.output.contains("mixed-dbref  any"))
        #expect(run.output.contains(/mixed-dbref .* 2\n/))
    }
}
