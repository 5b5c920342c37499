import BSON
import TestSupport
import Testing

/// Tests the verdict of a check on whether a new schema can be deployed safely.
///
/// The verdict has three parts: the documents, the limit of unsynced documents, and the change of the schema. The
/// deployment is safe only if all three parts are safe.
@Suite struct CheckVerdictTests {
    private typealias Case = CheckVerdictCase

    /// The version v1 of the schema requires `a` and `b`; v2 removes `b` and makes `a` optional.
    ///
    /// Every document fits v2, but every client has to reset.
    @Test func aBreakingChangeIsNotSafeThoughEveryDocumentFits() async throws {
        try await Case.with { test in
            try await test.database.fill("Person", [["_id": 1, "a": "x", "b": "y"], ["_id": 2, "a": "x", "b": "z"]])
            try test.write("v1", ["Person": Case.schema("Person", ["a!": "string", "b!": "string"])])
            try test.write("v2", ["Person": Case.schema("Person", ["a": "string"])])
            let (check, diff) = (try await test.check(), try await test.diff())
            #expect(check.exitCode == 1 && diff.exitCode == 1)
            #expect(!check.output.contains("Safe to deploy"), "\(check.output)")
            let headline = try #require(diff.output.split(separator: "\n").first)
            #expect(headline.hasSuffix("Sync must be terminated and re-enabled, and every client resets."))
            #expect(check.output.hasPrefix("\(headline)\n"), "\(check.output)")
            // The headline states the change, and the other parts are safe, so no part has a line.
            #expect(["  documents ", "  limit ", "  change "].allSatisfy { !check.output.contains($0) })
            #expect(check.output.contains("\n  Server: breaking; clients: breaking\n"))
            #expect(check.output.contains("\(test.database.name).Person: b is removed (property-removed)\n"))
            #expect(check.output.contains("Deploy a breaking change in the App Services UI"))
            let verdict = try await test.verdict()
            #expect(verdict["safe"] == false && verdict["band"] == "change_is_breaking")
            let parts = try #require(verdict["parts"]?.document)
            #expect(
                ["documents", "limit", "change"].map { parts[$0]?.document?["severity"] } == [
                    "safe", "safe", "harmful",
                ])
            #expect(parts["change"]?.document?["breaking"] == 2)
            #expect(parts["change"]?.document?["consequences"] == ["terminate", "client-reset"])
            for (policy, status) in [("new", Int32(0)), ("any", 0), ("none", 0), ("breaking", 1)] {
                #expect(try await test.check("--fail-on", policy).exitCode == status, "\(policy)")
            }
            // Without the active schema, the check cannot judge the change, and does not print "Safe to deploy".
            let alone = try await test.check(active: false)
            #expect(alone.exitCode == 0)
            #expect(alone.output.hasPrefix("0 documents would stop syncing.\n"))
            #expect(alone.output.hasSuffix("To compare with the schema in use, add --active.\n"), "\(alone.output)")
            #expect(try await test.check("--fail-on", "breaking", active: false).exitCode == 64)
        }
    }

    /// The check prints "Safe to deploy" only if the documents, the limit and the change of the schema are all safe.
    @Test func anAdditiveChangeIsSafeWhereTheDocumentsAre() async throws {
        try await Case.with { test in
            try await test.database.fill("Dog", [["_id": 1, "name": "Rex"], ["_id": 2, "name": "Lassie"]])
            try test.write("v1", ["Dog": Case.schema("Dog", ["name!": "string"])])
            try test.write("v2", ["Dog": Case.schema("Dog", ["name!": "string", "breed": "string"])])
            let safe = try await test.check()
            #expect(safe.exitCode == 0)
            #expect(safe.output.hasPrefix("Safe to deploy: 0 documents would stop syncing.\n"), "\(safe.output)")
            #expect(
                safe.output.contains("  change     safe      Not breaking: 1 change from v1 to v2. All are additive\n"))
            #expect(safe.output.contains("The collection may be resynced"))
            #expect(try await test.verdict()["safe"] == true)
            try await test.database.fill("Dog", [["_id": 3, "name": "Bo", "breed": 7]])
            let unsafe = try await test.check()
            #expect(unsafe.exitCode == 1)
            #expect(unsafe.output.hasPrefix("1 document would stop syncing.\n"), "\(unsafe.output)")
            #expect(try await test.check("--fail-on", "breaking").exitCode == 0)
            let part = try await test.check("--where", #"{"_id": {"$lt": 3}}"#)
            #expect(part.exitCode == 0 && !part.output.contains("Safe to deploy"), "\(part.output)")
        }
    }

    /// If the ledger is at the limit, sync has already stopped before the new schema is deployed.
    @Test func aFullLedgerHasStoppedSync() async throws {
        try await Case.with { test in
            try await test.database.fill("Dog", [["_id": 1, "name": "Rex"], ["_id": 2]])
            for version in ["v1", "v2"] { try test.write(version, ["Dog": Case.schema("Dog", ["name!": "string"])]) }
            try await test.database.fill(
                "unsynced",
                (10..<15).map {
                    [
                        "appId": "app", "documentId": .integer($0),
                        "ns": ["db": .string(test.database.name), "coll": "Dog"],
                    ]
                })
            let ledger = "\(test.database.name).unsynced"
            let stopped = try await test.check("SHIPSHAPE_LEDGER=\(ledger)", "SHIPSHAPE_LIMIT=5")
            #expect(stopped.exitCode == 1)
            #expect(
                stopped.output.hasPrefix("Sync itself has stopped: the limit of 5 is reached.\n"), "\(stopped.output)")
            let will = try await test.check("SHIPSHAPE_LEDGER=\(ledger)", "SHIPSHAPE_LIMIT=6")
            #expect(will.output.hasPrefix("Sync itself will stop: the limit of 6 is reached.\n"), "\(will.output)")
            // If sync is terminated (state `""`), the entries of the ledger do not count, because the ledger is empty
            // when sync is enabled again.
            let sync = #"{ "type": "flexible", "state": "", "service_name": "atlas" }"#
            try test.write("v1", ["Dog": Case.schema("Dog", ["name!": "string"])], sync: sync)
            let fresh = try await test.check("SHIPSHAPE_LEDGER=\(ledger)", "SHIPSHAPE_LIMIT=5")
            #expect(fresh.exitCode == 0, "\(fresh.output)")
            #expect(
                fresh.output.contains("1 document will not sync (5 in the ledger now); sync stops at 5"),
                "\(fresh.output)")
            #expect(fresh.output.contains("its ledger is empty when sync is enabled again"))
        }
    }

    /// The state of sync in the app's export decides what an unsafe verdict means, and how the change can be deployed.
    @Test(
        arguments: [
            ("enabled", false, "1 document would stop syncing\n", nil),
            ("enabled", true, "Development mode is on", nil),
            (
                "disabled", false, "1 document would stop syncing once sync is resumed\n",
                "Sync is paused since 2023-11-14"
            ),
            (
                "", false, "1 document would not sync once sync is enabled again\n",
                "Sync is terminated: no client syncs. Every client resets once it is enabled again"
            ),
        ] as [(String, Bool, String, String?)])
    func theStateOfSyncIsSaid(_ state: String, _ isDevelopment: Bool, _ words: String, _ more: String?) async throws {
        try await Case.with { test in
            try await test.database.fill("Task", [["_id": 1, "priority": "7"]])
            let sync = """
                { "type": "flexible", "state": "\(state)", "service_name": "atlas", "last_disabled": 1700000000,
                  "development_mode_enabled": \(isDevelopment) }
                """
            try test.write("v1", ["Task": Case.schema("Task", ["priority": "string"])], sync: sync)
            try test.write("v2", ["Task": Case.schema("Task", ["priority": "int"])], sync: sync)
            let run = try await test.check()
            #expect(run.exitCode == 1)
            #expect(run.output.contains(words), "\(run.output)")
            #expect(run.output.contains("Development mode is on") == isDevelopment)
            if let more { #expect(run.output.contains(more), "\(run.output)") }
            #expect(run.output.contains("Deploy a breaking change in the App Services UI"))
            let verdict = try await test.verdict()
            let name = ["": "terminated", "disabled": "paused"][state] ?? state
            #expect(verdict["sync_state"] == .string(name))
            #expect(verdict["parts"]?.document?["change"]?.document?["development_mode"] == .bool(isDevelopment))
        }
    }

    /// The verdict says that the partner collection TaskV2 does not exist yet, because clients of the new schema would
    /// find no documents in it.
    @Test func aCollectionThatDoesNotExistIsPartOfTheVerdict() async throws {
        try await Case.with { test in
            try await test.database.fill("Task", [["_id": 1, "priority": "7"]])
            let task = Case.schema("Task", ["priority": "string"])
            try test.write("v1", ["Task": task])
            try test.write("v2", ["Task": task, "TaskV2": Case.schema("TaskV2", ["priority": "int"])])
            let absent = "\(test.database.name).TaskV2"
            let run = try await test.check()
            #expect(
                run.output.hasPrefix(
                    "0 documents would stop syncing, and 1 collection of the schema does not exist.\n"), "\(run.output)"
            )
            #expect(run.output.contains("\n  \(absent) does not exist: there was nothing to check"))
            #expect(!run.output.contains("Note: "))
            let verdict = try await test.verdict()
            #expect(verdict["safe"] == false)
            #expect(
                verdict["parts"]?.document?["documents"]?.document?["absent_collections"]
                    == .array(of: [.string(absent)]))
            try await test.database.fill("TaskV2", [["_id": 1, "priority": 7]])
            #expect(try await test.check().output.hasPrefix("Safe to deploy: "))
        }
    }

    /// If the schemas are MongoDB validators, the verdict on the change compares the two validators.
    @Test func aTighterValidatorIsNotSafe() async throws {
        try await Case.with { test in
            try await test.database.fill("Person", [["_id": 1, "name": "Ada"]])
            let name = "\(test.database.name).Person.json"
            let text = { (rest: String) in
                #"{ "$jsonSchema": { "properties": { "name": { "bsonType": "string" } }\#(rest) } }"#
            }
            try test.folder.write(text(""), to: "v1/\(name)")
            try test.folder.write(text(#", "required": ["name"]"#), to: "v2/\(name)")
            let (check, diff) = (try await test.check(), try await test.diff())
            #expect(check.exitCode == 1 && diff.exitCode == 1)
            #expect(
                check.output.hasPrefix(
                    "Breaking: 1 of 1 change from v1 to v2. Documents that conformed before may be refused.\n"),
                "\(check.output)")
            #expect(!check.output.contains("  documents "))
            #expect(!check.output.contains("UI") && !check.output.contains("sync"))
        }
    }
}
