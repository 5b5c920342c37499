import BSON
import Subprocess
import TestSupport
import Testing

/// The fixture of a test of `shipshape schema infer`: a database, a folder, and the connection string of the server.
struct InferCase {
    let database: TestDatabase
    let folder: CommandLineFolder
    let uri: String

    static func with(_ body: (InferCase) async throws -> Void) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            try await body(InferCase(database: database, folder: folder, uri: mongod.uri))
        }
    }

    /// Runs the program in the test's folder, with the test's server.
    func run(_ arguments: String...) async throws -> ProgramRun { try await run(arguments) }

    /// Runs the program in the test's folder, with the test's server.
    func run(_ arguments: [String]) async throws -> ProgramRun {
        try await Program.run(arguments, environment: ["SHIPSHAPE_URI": uri], in: folder.path)
    }

    /// Infers the schema of a collection into `schema.json`, and returns the report about it.
    func infer(_ collection: String, _ arguments: String..., status: Int32 = 0) async throws -> BSONDocument {
        let named = ["schema", "infer", "--collection", "\(database.name).\(collection)", "--output", "json"]
        let run = try await run(named + ["--out", "schema.json", "--force"] + arguments)
        try #require(run.exitCode == status, "\(run.errors)")
        return try #require(try BSONDocument(extendedJSON: run.output)["collections"]?.document?.values.first?.document)
    }

    /// Returns how many documents of a collection `check` reads, and how many fail `schema.json`.
    func check(_ collection: String) async throws -> (read: Int, failing: Int) {
        let run = try await run(
            "check", "schema.json", "--collection", "\(database.name).\(collection)", "SHIPSHAPE_LEDGER=none",
            "--output",
            "json")
        try #require(run.exitCode == 0 || run.exitCode == 1, "\(run.errors)")
        let report = try BSONDocument(extendedJSON: run.output)
        let found = try #require(report["collections"]?.document?.values.first?.document)
        return (
            try #require(found["documents_read"]?.integer),
            try #require(found["failing"]?.document?["certain"]?.integer)
        )
    }

    /// The validator in `schema.json`, which `schema infer` has written with the name of its collection.
    var validator: BSONDocument {
        get throws {
            let file = try BSONDocument(extendedJSON: try #require(folder.text(of: "schema.json")))
            return try #require(file["validator"]?.document)
        }
    }

    /// Returns how many documents of a collection do not match the validator of `schema.json`, as the server counts
    /// them.
    func refused(_ collection: String) async throws -> Int {
        try await database.count(collection, ["$nor": [.object(try validator)]])
    }

    /// Creates a collection with the validator of `schema.json`; the server refuses a validator that is not valid.
    func use(as collection: String) async throws {
        try await database.run(["create": .string(collection), "validator": .object(try validator)])
    }
}

extension BSONDocument {
    /// Returns a share between 0 and 1 that a report states.
    ///
    /// If the share is 0 or 1, the report has an integer.
    func share(_ name: String) throws -> Double {
        switch try #require(self[name]) {
        case .double(let number): number
        case let other: Double(try #require(other.integer))
        }
    }
}
