import BSON
import TestSupport
import Testing

/// Tests how the ledger of unsynced documents and the limit on its size affect the verdict of `check` on a deploy.
@Suite struct CommandLineLedgerTests {
    /// Runs a test with three failing documents, one document that might fail, and a ledger.
    ///
    /// The ledger has ten entries of the app `mine`, two of which name failing documents, and nine of another app.
    ///
    /// - Parameter body: receives a function that runs a check with the flags that it is given.
    private func withApp(_ body: (@escaping ([String]) async throws -> ProgramRun) async throws -> Void)
        async throws
    {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill(
                "person", [["_id": 1, "name": "Ada"], ["_id": 2], ["_id": 3], ["_id": 4]])
            try await database.fill("person", [["_id": 5, "name": "Hedy", "age": .long(36)]])
            try await database.fill("ledger", (1...9).map { Self.entry($0, app: "other", of: "gone") })
            try await database.fill(
                "ledger",
                [2, 3, 90, 91, 92, 93, 94, 95, 96, 97].map { id in
                    Self.entry(id + 100, app: "mine", of: "person", id: id, in: database.name)
                })
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            try await body { more in
                let arguments = try folder.check(database, on: mongod).filter { $0 != "SHIPSHAPE_LEDGER=none" }
                return try await Program.run(
                    arguments + more.map { $0.replacing("DB.", with: "\(database.name).") })
            }
        }
    }

    private static func entry(
        _ number: Int, app: String, of collection: String, id: Int? = nil, in database: String = "app"
    ) -> BSONDocument {
        [
            "_id": .integer(number), "appId": .string(app), "documentId": .integer(id ?? number),
            "ns": ["db": .string(database), "coll": .string(collection)], "reason": "invalid",
        ]
    }

    @Test func theLimitMakesTheBand() async throws {
        try await withApp { check in
            for (limit, headline) in [
                (13, "1 document would stop syncing."),
                (12, "Sync itself might stop: with all possible findings, the limit of 12 is reached."),
                (11, "Sync itself will stop: the limit of 11 is reached."),
                (10, "Sync itself has stopped: the limit of 10 is reached."),
                (5, "Sync itself has stopped: the limit of 5 is reached."),
            ] {
                let run = try await check(["SHIPSHAPE_LEDGER=DB.ledger", "SHIPSHAPE_LIMIT=\(limit)"])
                #expect(run.exitCode == 1)
                #expect(run.output.hasPrefix(headline), "\(run.output)")
            }
        }
    }

    @Test func aFullLedgerFailsThoughEveryDocumentFits() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": 1, "name": "Ada"]])
            try await database.fill("ledger", (1...9).map { Self.entry($0, app: "mine", of: "gone") })
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let arguments = try folder.check(database, on: mongod)
            for (limit, status) in [(10, Int32(0)), (9, 1)] {
                let run = try await Program.run(
                    arguments + ["SHIPSHAPE_LEDGER=\(database.name).ledger", "SHIPSHAPE_LIMIT=\(limit)"])
                #expect(run.exitCode == status)
            }
        }
    }

    @Test func theLedgerOfTheAppCounts() async throws {
        try await withApp { check in
            let run = try await check(["SHIPSHAPE_LEDGER=DB.ledger"])
            #expect(run.exitCode == 1)
            #expect(
                run.output.hasPrefix("1 document would stop syncing.\n\n"), "\(run.output)")
            #expect(run.output.contains(" do not sync (1 not in the ledger), 1 ("))
        }
    }

    /// Failing documents are findings even if the ledger already has all of them.
    ///
    /// The headline, the severity, the JSON and the exit code all report these findings.
    @Test(arguments: [[], ["--strict"]]) func documentsThatTheLedgerRecordsAlreadyAreFindings(
        _ flags: [String]
    ) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            // With `--strict`, a document that might not sync counts as failing, so the test uses one such document.
            let failing: [BSONDocument] =
                flags.isEmpty ? [["_id": 2], ["_id": 3]] : [["_id": 2, "name": "Hedy", "age": .long(36)]]
            try await database.fill("person", [["_id": 1, "name": "Ada"]] + failing)
            try await database.fill(
                "ledger",
                failing.map { document in
                    let id = document["_id"]?.integer ?? 0
                    return Self.entry(id + 100, app: "mine", of: "person", id: id, in: database.name)
                })
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let words = try folder.check(database, on: mongod) + ["SHIPSHAPE_LEDGER=\(database.name).ledger"]
            let text = try await Program.run(words + flags)
            #expect(text.exitCode == 1)
            let sentence =
                flags.isEmpty
                ? "2 documents do not sync, all of them in the ledger already; no other document would stop syncing."
                : "1 document does not sync, and is in the ledger already; no other document would stop syncing."
            #expect(text.output.hasPrefix(sentence), "\(text.output)")
            let json = try await Program.run(words + flags + ["-o", "json"])
            let verdict = try #require(try BSONDocument(extendedJSON: json.output)["verdict"]?.document)
            #expect(verdict["safe"] == false && verdict["band"] == "documents_do_not_sync", "\(verdict)")
            let documents = verdict["parts"]?.document?["documents"]?.document
            #expect(documents?["severity"] == "harmful" && documents?["stopping"] == 0, "\(verdict)")
            // Once the documents fit, the check finds nothing, although the ledger still has entries for these
            // documents.
            try await database.update("person", ["_id": ["$gt": 1]], ["$set": ["name": "Hedy", "age": 36]])
            if flags.isEmpty { try await database.update("person", ["_id": 3], ["$set": ["name": "Hedy", "age": 36]]) }
            let mended = try await Program.run(words + flags)
            #expect(mended.exitCode == 0)
            #expect(mended.output.hasPrefix("0 documents would stop syncing."), "\(mended.output)")
        }
    }

    @Test func anotherAppsEntriesDoNotCount() async throws {
        try await withApp { check in
            let run = try await check(["SHIPSHAPE_LEDGER=DB.ledger", "SHIPSHAPE_APP_ID=other"])
            #expect(!run.output.contains("Note: "))
            let json = try await check(["SHIPSHAPE_LEDGER=DB.ledger", "SHIPSHAPE_APP_ID=other", "-o", "json"])
            #expect(json.output.contains("\"projected\": 12"), "\(json.output)")
            let misspelt = try await check(["SHIPSHAPE_LEDGER=DB.ledger", "SHIPSHAPE_APP_ID=othr"])
            #expect(misspelt.output.contains("Note: the ledger has no entry of the app othr\n"))
        }
    }

    @Test func withoutALedgerItSaysSo() async throws {
        try await withApp { check in
            let run = try await check(["SHIPSHAPE_LEDGER=none"])
            #expect(run.exitCode == 1)
            let json = try await check(["SHIPSHAPE_LEDGER=none", "-o", "json"])
            #expect(json.output.contains("\"projected\": 3"), "\(json.output)")
            let misspelt = try await check(["SHIPSHAPE_LEDGER=DB.nothing"])
            #expect(misspelt.exitCode == 64)
            #expect(misspelt.errors.contains(".nothing: there is no such collection"), "\(misspelt.errors)")
        }
    }
}
