import BSON
import TestSupport
import Testing

/// Tests each statement about a schema change in the texts 000 to 004, the notes from which the project was created.
///
/// Text 000 is a quick reference, 001 describes the rules, and 002 to 004 contain examples. The names of types and
/// properties in the tests come from these texts.
@Suite struct SeedStatementTests {
    private typealias Case = CheckVerdictCase

    struct Statement: Sendable, CustomTestStringConvertible {
        let text: String
        /// The collections of the older version, each with its properties and their types.
        let v1: [String: [String: String]]
        /// The collections of the newer version, each with its properties and their types.
        let v2: [String: [String: String]]
        /// The verdict on the change for the server's schema: "breaking" or "non-breaking".
        let server: String
        /// The verdict on the change for the clients' models: "breaking" or "non-breaking".
        let clients: String
        /// The number of documents that would stop syncing if v2 were deployed without a job.
        let stop: Int
        /// The renames of the setting; empty for none.
        ///
        /// Without the flag, a rename looks like a removal and an addition.
        var rename = ""
        /// The title of the type Person in v2.
        var title = "Person"
        /// The steps of a job that makes the documents fit; empty if no job can do that, or if none is needed.
        var steps: [String] = []

        var testDescription: String { text }
    }

    private static let (breaking, additive) = ("breaking", "non-breaking")
    private static let dog = ["name!": "string"]
    private static let person = ["name!": "string", "age!": "int", "nickname": "string"]

    private static func person(without removed: String = "", _ added: [String: String] = [:]) -> [String: [String:
        String]]
    {
        ["Person": person.filter { $0.key != removed }.merging(added) { $1 }]
    }

    static let statements: [Statement] = [
        Statement(
            text: "000: add an object type", v1: person(), v2: person().merging(["Dog": dog]) { $1 }, server: additive,
            clients: additive, stop: 0),
        Statement(
            text: "000: add a required property", v1: person(), v2: person(["email!": "string"]), server: additive,
            clients: additive, stop: 2, steps: [#"default: {field: email, value: ""}"#]),
        Statement(
            text: "000: add an optional property", v1: person(), v2: person(["email": "string"]), server: additive,
            clients: additive, stop: 0),
        Statement(
            text: "000: remove an object type", v1: person().merging(["Dog": dog]) { $1 }, v2: person(),
            server: breaking,
            clients: additive, stop: 0),
        Statement(
            text: "000: remove a required property", v1: person(), v2: person(without: "age!"), server: breaking,
            clients: additive, stop: 0),
        Statement(
            text: "000: remove an optional property", v1: person(), v2: person(without: "nickname"), server: breaking,
            clients: additive, stop: 0),
        Statement(
            text: "000: change an object type's name", v1: person(), v2: person(), server: breaking, clients: breaking,
            stop: 0, title: "Human"),
        Statement(
            text: "000: change a property's name", v1: person(), v2: person(without: "name!", ["fullName!": "string"]),
            server: breaking, clients: breaking, stop: 2, rename: "Person.name=fullName",
            steps: ["copy: {from: name, to: fullName}"]),
        Statement(
            text: "000: change a property's type and keep the name", v1: person(),
            v2: person(without: "age!", ["age!": "string"]),
            server: breaking, clients: breaking, stop: 2, steps: ["convert: {field: age, to: string}"]),
        Statement(
            text: "000: change a property from optional to required", v1: person(),
            v2: person(without: "nickname", ["nickname!": "string"]), server: breaking, clients: breaking, stop: 1,
            steps: [#"default: {field: nickname, value: ""}"#]),
        Statement(
            text: "000: change a property from required to optional", v1: person(),
            v2: person(without: "name!", ["name": "string"]), server: breaking, clients: breaking, stop: 0),
        Statement(
            text: "001: fullName in place of firstName and lastName",
            v1: ["Person": ["firstName!": "string", "lastName!": "string"]], v2: ["Person": ["fullName!": "string"]],
            server: breaking, clients: additive, stop: 2,
            steps: [#"combine: {into: fullName, template: "{firstName} {lastName}"}"#]),
        Statement(
            text: "001: change an object type's primary key", v1: ["Person": ["_id!": "int", "name!": "string"]],
            v2: ["Person": ["_id!": "string", "name!": "string"]], server: breaking, clients: breaking, stop: 2),
        Statement(
            text: "002, 003: add Person, and the owner of a Dog", v1: ["Dog": dog],
            v2: ["Dog": dog.merging(["owner": "int"]) { $1 }, "Person": ["name!": "string", "birthdate": "date"]],
            server: additive, clients: additive, stop: 0),
        Statement(
            text: "003: take a person's birthdate away", v1: ["Person": ["name!": "string", "birthdate": "date"]],
            v2: ["Person": ["name!": "string"]], server: breaking, clients: additive, stop: 0),
        Statement(
            text: "004: years in place of an age that is a text", v1: ["Person": ["age!": "string"]],
            v2: ["Person": ["age!": "string", "yearsSinceBirth!": "int"]], server: additive, clients: additive, stop: 2,
            steps: ["convert: {field: age, to: int, into: yearsSinceBirth}"]),
    ]

    private static let documents: [BSONDocument] = [
        ["_id": 1, "name": "Ada", "nickname": "A", "firstName": "Ada", "lastName": "Lovelace"],
        ["_id": 2, "name": "Bo", "firstName": "Bo", "lastName": "Peep"],
    ]

    @Test(arguments: statements) func itIsWhatTheSeedSays(_ statement: Statement) async throws {
        try await Case.with { test in
            for name in Set(statement.v1.keys).union(statement.v2.keys) {
                let age: BSONValue = statement.v1[name]?["age!"] == "string" ? "36" : 36
                try await test.database.fill(name, Self.documents.map { $0.appending("age", age) })
            }
            for (version, collections) in [("v1", statement.v1), ("v2", statement.v2)] {
                for (name, properties) in collections {
                    let id = properties["_id!"] ?? "int"
                    let others = properties.filter { $0.key != "_id!" }.sorted { $0.key < $1.key }
                    let home = "\(version)/data_sources/atlas/\(test.database.name)/\(name)/schema.json"
                    try test.folder.write(
                        Self.schema(version == "v2" && name == "Person" ? statement.title : name, id, others), to: home)
                }
                try test.folder.write(
                    #"{ "name": "fleet", "config_version": 20210101 }"#, to: "\(version)/root_config.json")
            }
            let verdict =
                try await statement.rename.isEmpty
                ? test.verdict() : test.verdict("SHIPSHAPE_RENAMES=\(statement.rename)")
            let change = try #require(verdict["parts"]?.document?["change"]?.document)
            #expect(change["server"]?.text == statement.server, "\(change)")
            #expect(change["client"]?.text == statement.clients, "\(change)")
            #expect(
                try await test.diff("--fail-on", "breaking").exitCode == (statement.server == Self.breaking ? 1 : 0))
            #expect(Self.failing(verdict) == statement.stop)
            guard !statement.steps.isEmpty else { return }
            let job = try await test.backfill("job", on: "Person", steps: statement.steps)
            #expect(job.exitCode == 0, "\(job.errors)")
            #expect(Self.failing(try await test.verdict()) == 0)
        }
    }

    private static func failing(_ verdict: BSONDocument) -> Int? {
        verdict["newly_failing"]?.integer
    }

    private static func schema(_ title: String, _ id: String, _ properties: [(key: String, value: String)]) -> String {
        let all = [("_id!", id)] + properties.map { ($0.key, $0.value) }
        let required = all.map(\.0).filter { $0.hasSuffix("!") }.map { #""\#($0.dropLast())""# }
        let members = all.map {
            #""\#($0.0.hasSuffix("!") ? String($0.0.dropLast()) : $0.0)": { "bsonType": "\#($0.1)" }"#
        }
        return
            #"{ "title": "\#(title)", "bsonType": "object", "required": [\#(required.joined(separator: ", "))], "properties": { \#(members.joined(separator: ", ")) } }"#
    }
}
