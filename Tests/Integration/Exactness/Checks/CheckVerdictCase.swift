import BSON
import TestSupport

/// The fixture of the tests of a check's verdict: two versions of an app, a database, a state database, and a folder.
struct CheckVerdictCase {
    let mongod: Mongod
    let database: TestDatabase
    let state: TestDatabase
    let folder: CommandLineFolder

    /// Returns a schema with these properties and their types.
    ///
    /// An exclamation mark after a name makes the property required.
    static func schema(_ title: String, id: String = "int", _ properties: KeyValuePairs<String, String>) -> String {
        let types = [("_id!", id)] + properties.map { ($0.key, $0.value) }
        let required = types.map(\.0).filter { $0.hasSuffix("!") }.map { #""\#($0.dropLast())""# }
        let members = types.map { name, type in
            let plain = name.hasSuffix("!") ? String(name.dropLast()) : name
            return #""\#(plain)": \#(type.hasPrefix("{") ? type : #"{ "bsonType": "\#(type)" }"#)"#
        }
        return """
            { "title": "\(title)", "bsonType": "object", "required": [\(required.joined(separator: ", "))],
              "properties": { \(members.joined(separator: ", ")) } }
            """
    }

    static func with(_ body: (CheckVerdictCase) async throws -> Void) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await mongod.withDatabase { state in
                let folder = try CommandLineFolder()
                defer { folder.remove() }
                try await body(CheckVerdictCase(mongod: mongod, database: database, state: state, folder: folder))
            }
        }
    }

    /// Writes the files of one version of the app.
    ///
    /// - Parameter links: for each collection, the names of its links with the collection that each leads to, such as
    ///   `home` → `Address`. The name of a list of links ends in `[]`.
    func write(
        _ version: String, _ schemas: KeyValuePairs<String, String>, links: [String: [String: String]] = [:],
        sync: String? = nil
    ) throws {
        try folder.write(#"{ "name": "fleet", "config_version": 20210101 }"#, to: "\(version)/root_config.json")
        if let sync { try folder.write(sync, to: "\(version)/sync/config.json") }
        for (name, schema) in schemas {
            let home = "\(version)/data_sources/atlas/\(database.name)/\(name)"
            try folder.write(schema, to: "\(home)/schema.json")
            let members = (links[name] ?? [:]).map { source, target in
                let isList = source.hasSuffix("[]")
                let ref = "#/relationship/atlas/\(database.name)/\(target)"
                return """
                    "\(isList ? String(source.dropLast(2)) : source)": { "ref": "\(ref)", "foreign_key": "_id", \
                    "is_list": \(isList) }
                    """
            }
            if !members.isEmpty {
                try folder.write("{ \(members.joined(separator: ", ")) }", to: "\(home)/relationships.json")
            }
        }
    }

    /// Checks v2, with v1 as the active schema unless `active` is false.
    func check(_ more: String..., active: Bool = true) async throws -> ProgramRun {
        try await check(more, active: active)
    }

    /// Checks v2, with v1 as the active schema unless `active` is false.
    func check(_ more: [String], active: Bool = true) async throws -> ProgramRun {
        try await Program.run(
            ["check", "v2"] + (active ? ["--active", "v1"] : [])
                + ["--uri", mongod.uri, "SHIPSHAPE_STATE_DATABASE=\(state.name)", "SHIPSHAPE_THREADS=1"]
                + ["SHIPSHAPE_LEDGER=none"] + more, in: folder.path)
    }

    /// Checks v2, with v1 as the active schema, and returns the verdict of the JSON report; empty if it has none.
    func verdict(_ more: String...) async throws -> BSONDocument {
        let run = try await Program.run(
            [
                "check", "v2", "--active", "v1", "--uri", mongod.uri, "SHIPSHAPE_LEDGER=none",
                "SHIPSHAPE_STATE_DATABASE=\(state.name)", "SHIPSHAPE_THREADS=1", "--output", "json",
            ] + more, in: folder.path)
        return try BSONDocument(extendedJSON: run.output)["verdict"]?.document ?? [:]
    }

    /// Runs `diff` on v1 and v2.
    func diff(_ more: String...) async throws -> ProgramRun {
        try await Program.run(["diff", "v1", "v2"] + more, in: folder.path)
    }

    /// Writes and runs a job over a collection.
    ///
    /// The job's next schema is v2, and `active` names the job's active schema.
    @discardableResult
    func backfill(
        _ name: String, on collection: String, steps: [String], active: String = "v1", _ more: String...
    ) async throws -> ProgramRun {
        let lines = steps.map { "  - \($0)\n" }.joined()
        let job = try folder.write(
            """
            job: \(name)
            collection: \(database.name).\(collection)
            schema: {active: \(active), next: v2}
            steps:
            \(lines)
            """, to: "\(name).yml")
        return try await Program.run(
            [
                "backfill", job, "--yes", "--uri", mongod.uri, "SHIPSHAPE_LEDGER=none",
                "SHIPSHAPE_STATE_DATABASE=\(state.name)",
                "SHIPSHAPE_LEASE_TTL=60s", "--allow-unsync", "1000",
            ] + more, in: folder.path)
    }
}
