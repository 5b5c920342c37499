import BSON
import TestSupport

/// A ledger with entries of every kind, the documents that they name, and a function that runs `ledger show` on them.
struct UnsyncedCase {
    static let person = "64f1c0de5ea51de5ca1ab1e0"
    let mongod: Mongod
    let database: TestDatabase
    let folder: CommandLineFolder

    /// Runs `ledger show` with a connection string and these arguments, in which `DB` is replaced by the database's
    /// name.
    func unsynced(_ more: [String] = [], uri: String? = nil) async throws -> ProgramRun {
        try await Program.run(
            ["ledger", "show", "--uri", uri ?? mongod.uri] + more.map { $0.replacing("DB.", with: "\(database.name).") }
        )
    }

    /// Writes the schema of `person` to a file, and returns the arguments that name it.
    func schema() throws -> [String] {
        [try folder.write(CommandLineFolder.person, to: "person.json"), "--collection", "DB.person"]
    }

    static func with(_ mongod: Mongod, _ body: (UnsyncedCase) async throws -> Void) async throws {
        try await mongod.withDatabase { database in
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            try await body(UnsyncedCase(mongod: mongod, database: database, folder: folder))
        }
    }

    /// Inserts documents, and ledger entries of every kind.
    ///
    /// The ledger records these documents of `person`: two fail (one of them is recorded twice), one might fail,
    /// one fits now, and one does not exist. Two entries are of a collection that no schema covers, one names no
    /// document, and one is of another app. Document 9 fails, but the ledger does not record it.
    func fill() async throws {
        try await database.fill(
            "person",
            [
                ["_id": 1], ["_id": 2, "name": 5], ["_id": 3, "name": "Ada", "age": .long(36)],
                ["_id": 4, "name": "Ada"], ["_id": 9],
            ])
        try await database.fill(
            "ledger",
            [1, 2, 3, 4, 5, 1].enumerated().map { entry($0.offset, of: "person", id: .integer($0.element)) })
        try await database.fill("ledger", [entry(10, of: "thing", id: "a"), entry(11, of: "thing", id: "b")])
        try await database.fill("ledger", [["_id": 12, "appId": "mine", "reason": "odd"]])
        try await database.fill("ledger", [entry(13, app: "other", of: "person", id: 1)])
    }

    func entry(
        _ number: Int, app: BSONValue = "mine", of collection: String, id: BSONValue, reason: String = "invalid schema"
    ) -> BSONDocument {
        [
            "_id": .integer(number), "appId": app, "documentId": id,
            "ns": ["db": .string(database.name), "coll": .string(collection)], "reason": .string(reason),
        ]
    }
}
