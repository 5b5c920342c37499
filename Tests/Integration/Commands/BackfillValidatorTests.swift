import BSON
import TestSupport
import Testing

/// Tests jobs whose active schema is a MongoDB validator.
///
/// Such a job has no ledger and no limit of unsynced documents. The server itself accepts or refuses each write.
@Suite struct BackfillValidatorTests {
    private static let validator: BSONDocument = [
        "$jsonSchema": [
            "bsonType": "object", "properties": ["_id": ["bsonType": "int"], "email": ["bsonType": "int"]],
        ]
    ]

    /// Runs a test with 200 documents and a job whose limits allow five unsyncable documents.
    ///
    /// The limits must have no effect, because the active schema is a validator.
    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 200)
            try test.write("active.json", try Self.validator.extendedJSON())
            try test.job(
                steps: [#"default: {field: email, value: ""}"#], limits: "{unsynced: 6, reserve: 0}",
                more: "schema: {active: active.json}")
            try await body(test)
        }
    }

    @Test func nothingIsHeldBack() async throws {
        try await withPeople { test in
            let dryRun = try await test.backfill("job", "--dry-run")
            #expect(dryRun.exitCode == 0, "\(dryRun.errors)")
            #expect(dryRun.output.contains("Note: not checked: whether the active validator accepts the"))
            #expect(!dryRun.output.contains("unsyncable"))
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.count("people", ["email": ""]) == 200)
        }
    }

    @Test func whereTheServerRefusesAllTheRunStopsAndCanBeResumed() async throws {
        try await withPeople { test in
            try await test.database.run([
                "collMod": "people", "validator": .object(Self.validator), "validationLevel": "strict",
            ])
            let refused = try await test.backfill()
            #expect(refused.exitCode == 75, "\(refused.errors)")
            #expect(refused.errors.contains("skipped: _id 0, refused by the collection's validator"))
            #expect(refused.output.contains("101 documents that cannot be written (--max-errors allows 100)"))
            #expect(try await test.database.count("people", ["email": ["$exists": true]]) == 0)
            try await test.database.run(["collMod": "people", "validationAction": "warn"])
            let resumed = try await test.backfill()
            #expect(resumed.exitCode == 0, "\(resumed.errors)")
            #expect(try await test.database.count("people", ["email": ""]) == 200)
        }
    }
}
