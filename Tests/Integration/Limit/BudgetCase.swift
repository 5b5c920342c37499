import BSON
import TestSupport
import Testing

/// The fixture for tests of the unsync budget: documents in `tasks`, a job that makes them unsyncable, and a ledger.
enum BudgetCase {
    /// The limit of the jobs: fewer than 100 documents may be unsynced.
    ///
    /// The jobs have `reserve: 0`, so the limit allows 99 unsynced documents.
    static let ceiling = 100
    private static let tasks = 200

    /// Runs a test with 200 tasks and a job that makes them unsyncable.
    ///
    /// The `priority` of each task is text, as the active schema requires; the job converts it to a number.
    ///
    /// - Parameter ledger: the number of other documents in the ledger; `nil` for no ledger.
    static func withTasks(
        on mongod: Mongod? = nil, ledger: Int? = nil, _ body: (BackfillCase) async throws -> Void
    ) async throws {
        var server = mongod
        if server == nil { server = try await .shared }
        try await server?.withBackfill { test in
            try await test.database.fill("tasks", count: Self.tasks) {
                ["_id": .integer($0), "priority": .string("\($0)")]
            }
            if let ledger { try await unsync(Array(1_000..<1_000 + ledger), in: test) }
            try writeSchemas(retyping: "priority", in: test)
            try test.job(
                on: "tasks", steps: ["convert: {field: priority, to: int}"],
                limits: "{chunk: {documents: 30}, unsynced: \(Self.ceiling), reserve: 0}",
                more: "schema: {active: active.json, next: next.json}")
            try await body(test)
        }
    }

    /// Writes `active.json`, which requires the field as text, and `next.json`, which requires it as a number.
    /// - Parameters:
    ///   - field: the name of the field.
    ///   - text: the name of another field, which both schemas require as text.
    ///   - prefix: the beginning of the files' names.
    static func writeSchemas(
        retyping field: String, requiring text: String? = nil, prefix: String = "", in test: BackfillCase
    ) throws {
        let required = ["_id", field] + (text.map { [$0] } ?? [])
        for (name, type) in [("active", "string"), ("next", "int")] {
            let types = ["_id": "int", field: type]
            let properties = required.map { #""\#($0)": {"bsonType": "\#(types[$0] ?? "string")"}"# }
            try test.write(
                "\(prefix)\(name).json",
                """
                {"title": "Task", "bsonType": "object", "required": \(required),
                 "properties": {\(properties.joined(separator: ", "))}}
                """)
        }
    }

    /// Records documents in the ledger, as the sync engine does.
    static func unsync(_ ids: [Int], in test: BackfillCase) async throws {
        try await test.database.fill(
            "ledger",
            ids.map {
                [
                    "appId": "app", "documentId": .integer($0),
                    "ns": ["db": .string(test.database.name), "coll": "tasks"],
                ]
            })
    }

    static func run(_ test: BackfillCase, _ flags: String..., fault: String? = nil) async throws -> ProgramRun {
        try await test.backfill(flags: ["SHIPSHAPE_LEDGER=\(test.database.name).ledger"] + flags, fault: fault)
    }

    static func unsyncable(_ test: BackfillCase) async throws -> [Int] {
        try await test.database.documents("tasks", ["priority": ["$type": "int"]]).compactMap { $0["_id"]?.integer }
    }

    static func recorded(_ test: BackfillCase, _ filter: BSONDocument = [:]) async throws -> [Int] {
        try await test.state.documents("harm", filter).compactMap { $0["_id"]?.document?["id"]?.integer }
    }

    /// Expects that each document that a job made unsyncable has a reservation, and that the limit is not reached.
    ///
    /// A document counts towards the limit if it is unsyncable, has a pending reservation, or is in the ledger.
    static func expectUnderCeiling(_ test: BackfillCase) async throws {
        let unsyncable = Set(try await unsyncable(test))
        #expect(unsyncable.isSubset(of: try await recorded(test)))
        let pending = try await recorded(test, ["seen": false])
        let ledger = try await test.database.documents("ledger").compactMap { $0["documentId"]?.integer }
        #expect(unsyncable.union(pending).union(ledger).count < Self.ceiling)
    }
}
