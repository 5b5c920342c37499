import BSON
import SystemPackage
import TestSupport
import Testing

/// Tests that commands stop if a field of a state document has the wrong type.
///
/// The error names the database, the collection, the `_id` and the field, and says how to continue.
@Suite struct DamagedStateTests {
    /// A field of a state document, and the wrong value that the test writes there.
    struct Damage: CustomTestStringConvertible, Sendable {
        let collection: String
        let field: String
        let value: BSONValue
        /// The command that reads the field.
        var command = Command.backfill

        enum Command: Sendable { case backfill, undo, status, pause, folder }

        init(_ collection: String, _ field: String, _ value: BSONValue, _ command: Command = .backfill) {
            (self.collection, self.field, self.value, self.command) = (collection, field, value, command)
        }

        var testDescription: String { "\(collection) \(field) \(value.type) \(command)" }
    }

    static let damages: [Damage] = [
        Damage("jobs", "text", 5), Damage("jobs", "schemas", "x"), Damage("jobs", "touched", ["n", 5]),
        Damage("jobs", "journal", "yes"), Damage("jobs", "created", "today"), Damage("jobs", "ns", 7, .undo),
        Damage("jobs", "text", 5, .status), Damage("jobs", "log", "x", .pause), Damage("jobs", "control", [], .pause),
        Damage("jobs", "control", "x"), Damage("jobs", "control", ["paused": true]),
        Damage("jobs", "control", ["limits": ["nice": 5]]), Damage("jobs", "control", ["deployed": ["verified": 1]]),
        Damage("ranges", "chunks", "x"), Damage("ranges", "modified", 1.5), Damage("ranges", "state", 5),
        Damage("ranges", "state", 5, .status), Damage("ranges", "pass", nil), Damage("ranges", "lease", []),
        Damage("ranges", "lease", "mine"), Damage("ranges", "lease", ["end": "never"]),
        Damage("ranges", "lease", ["token": "one"]), Damage("ranges", "recent", "x"), Damage("ranges", "undo", true),
        Damage("ranges", "journaled", "x", .undo), Damage("ranges", "written", 5, .undo),
        Damage("journal", "groups", "x", .undo), Damage("journal", "groups", [["b": 5]], .undo),
        Damage("journal", "count", "x", .undo), Damage("journal", "touched", 5, .undo),
        Damage("journal", "parts", "x", .undo), Damage("journal", "chunk", [], .undo),
        Damage("failed", "code", "x"), Damage("failed", "phase", []),
        Damage("harm", "seen", "x"), Damage("harm", "at", 5),
        Damage("leftalone", "reason", 5, .undo), Damage("migrations", "digest", 5, .folder),
    ]

    @Test(arguments: damages) func isReportedWithItsPlaceAndARemedy(_ damage: Damage) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 20) { ["_id": .integer($0), "n": .string("\($0)")] }
            // The active schema requires a string in `n`, so the job makes documents unsyncable when it writes an int.
            // The job therefore stores reservations in the collection `harm`.
            try BudgetCase.writeSchemas(retyping: "n", in: test)
            try test.job(
                steps: ["convert: {field: n, to: int}"], limits: "{chunk: {documents: 5}}",
                more: "schema: {active: active.json, next: next.json}")
            let ledger = ["SHIPSHAPE_LEDGER=\(test.database.name).ledger"]
            let stopped = try await test.stoppedHalfway(flags: ledger)
            #expect(stopped.exitCode == 75, "\(stopped.errors)")
            let job = BSONValue.string("job")
            let records: [String: BSONDocument] = [
                "failed": ["_id": ["job": job, "id": 99], "code": 1, "name": "x", "phase": 0],
                "leftalone": ["_id": ["job": job, "id": 99], "reason": "changed"],
                "migrations": ["_id": "job", "digest": "x", "file": "x"],
            ]
            if let record = records[damage.collection] { try await test.state.fill(damage.collection, [record]) }
            let isOne: BSONDocument = damage.collection != "journal" ? [:] : ["_id.range": 0]
            let reply = try await test.state.run([
                "update": .string(damage.collection),
                "updates": [
                    ["q": .object(isOne), "u": ["$set": .object(BSONDocument([(damage.field, damage.value)]))]]
                ],
            ])
            #expect(reply["nModified"]?.integer == 1)
            let before = try await test.database.documents("people")
            let run = try await run(damage.command, test, ledger)
            #expect(run.exitCode == 65, "\(run.status): \(run.output) \(run.errors)")
            for part in [test.state.name, "\"\(damage.collection)\"", "_id", "\"\(damage.field)"] {
                #expect(run.errors.contains(part), "\(run.errors)")
            }
            #expect(run.errors.contains("restore the document") || run.errors.contains("delete it"), "\(run.errors)")
            #expect(!run.errors.contains("internal error"), "\(run.errors)")
            #expect(try await test.database.documents("people") == before)
        }
    }

    private func run(
        _ command: Damage.Command, _ test: BackfillCase, _ ledger: [String]
    ) async throws -> ProgramRun {
        let state = ["--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"]
        switch command {
        case .backfill: return try await test.backfill(flags: ledger)
        case .undo: return try await test.undo(flags: ledger)
        case .status: return try await Program.run(["status", "job"] + state)
        case .pause: return try await Program.run(["job", "pause", "job"] + state)
        case .folder: return try await Program.run(["backfill", test.folder.string, "--yes"] + state + ledger)
        }
    }
}
