import BSON
import Mongo
import SystemPackage
import TestSupport
import Testing

/// The number of an app's ledger entries includes the entries in all ledgers, and every entry about the same document.
///
/// This is tested for `check`, `backfill` and `ledger show`.
@Suite struct LedgerSumTests {
    private static let app = ObjectID(high: 0x64f1_c0de_5ea5_1de5, low: 0xca1a_b1e0)
    private static let shared = Namespace(database: "__realm_sync", collection: "unsynced_documents")
    private static let own = Namespace(database: "__realm_sync_\(app)", collection: "unsynced_documents")

    /// Runs a test with ledgers, documents in `tasks`, and a job that converts the documents for the next schema.
    ///
    /// The ledgers have the same names as in production, so the test starts a server of its own.
    /// - Parameters:
    ///   - fill: receives a function that inserts entries into a ledger.
    ///   - body: receives a function that runs `check`, `ledger show` or a dry run of `backfill` with the flags that it
    ///     is given.
    private func withLedgers(
        _ fill: (BackfillCase, (Namespace, [BSONDocument]) async throws -> Void) async throws -> Void,
        _ body: (BackfillCase, _ run: (String, String...) async throws -> ProgramRun) async throws -> Void
    ) async throws {
        try await Mongod.start().withBackfill { test in
            try await test.database.fill("tasks", count: 10) { ["_id": .integer($0), "priority": .string("\($0)")] }
            try BudgetCase.writeSchemas(retyping: "priority", in: test)
            try test.job(
                on: "tasks", steps: ["convert: {field: priority, to: int}"], limits: "{unsynced: 1000, reserve: 0}",
                more: "schema: {active: active.json, next: next.json}")
            try await fill(test) { namespace, documents in
                try await test.database.pool.withClient { client throws(MongoError) in
                    _ = try client.collection(namespace).insertMany(documents)
                }
            }
            let collection = ["--collection", "\(test.database.name).tasks"]
            try await body(test) { command, flags in
                switch command {
                case "check":
                    try await Program.run(
                        [
                            "check", test.folder.appending("active.json").string, "--uri", test.uri,
                            "SHIPSHAPE_LIMIT=1000",
                        ]
                            + collection + flags)
                case "unsynced":
                    try await Program.run(["ledger", "show", "--uri", test.uri, "SHIPSHAPE_LIMIT=1000"] + flags)
                default: try await test.backfill(flags: ["--dry-run", "--output", "json"] + flags, yes: false)
                }
            }
        }
    }

    private static func entries(
        _ ids: Range<Int>, of test: BackfillCase, app: BSONValue = .objectID(app), as form: (Int) -> BSONValue
    ) -> [BSONDocument] {
        ids.map {
            [
                "appId": app, "documentId": form($0), "reason": "invalid schema",
                "ns": ["db": .string(test.database.name), "coll": "tasks"],
            ]
        }
    }

    /// The ledger of all apps and the ledger in the app's own database have 600 entries of the app each.
    ///
    /// Together these are 1,200 entries. The limit in this test is 1,000 entries, so sync counts as stopped.
    @Test func bothLayoutsAreOneSum() async throws {
        try await withLedgers { test, insert in
            try await insert(Self.shared, Self.entries(100..<700, of: test) { .integer($0) })
            // An entry in the app's own database may lack the app's id, or state it as text.
            try await insert(Self.own, Self.entries(700..<1_000, of: test, app: .null) { .integer($0) })
            try await insert(
                Self.own, Self.entries(1_000..<1_300, of: test, app: .string("\(Self.app)")) { .integer($0) })
            // The 900 entries of another app are not counted.
            try await insert(Self.shared, Self.entries(0..<900, of: test, app: "other") { .integer($0) })
        } _: { test, run in
            for flags in [[], ["SHIPSHAPE_APP_ID=\(Self.app)"]] {
                let check = try await run("check", flags.first ?? "--output=json")
                #expect(check.exitCode == 1)
                if flags.isEmpty { #expect(check.output.contains("\"projected\": 1200"), "\(check.output)") }
                #expect(!check.output.contains("distinct"))
            }
            let unsynced = try await run("unsynced")
            #expect(
                unsynced.output.hasPrefix(
                    "Sync has stopped: 1,200 documents are unsynced in the fullest of 2 apps, and the limit is 1,000.\n"
                ),
                "\(unsynced.output)")
            #expect(
                unsynced.output.contains(
                    "app \(Self.app) (\(Self.shared) and \(Self.own)): 1,200 documents, 1,200 entries, headroom -201\n"
                ))
            let explained = try await run(
                "unsynced", test.folder.appending("active.json").string, "--collection",
                "\(test.database.name).tasks", "SHIPSHAPE_APP_ID=\(Self.app)")
            #expect(explained.output.contains("(0 fit now, 1,200 are gone)"), "\(explained.output)")
            let report = try test.report(try await run("backfill"))
            let headroom = report["headroom"]?.document
            #expect(headroom?["ledger"] == 1_200 && headroom?["ledger_documents"] == 1_200, "\(report)")
            #expect(headroom?["documents"] == 0)
            #expect(report["refusal"]?.text?.contains("1,200 in the ledger") == true)
        }
    }

    /// 600 documents have two entries each in the ledger.
    ///
    /// The limit applies to the entries and not to the documents, and a note says so.
    @Test func documentsRecordedTwiceAreWarnedOf() async throws {
        let warning = "the ledger has 1200 entries for 600 documents"
        try await withLedgers { test, insert in
            try await insert(Self.shared, Self.entries(100..<400, of: test) { .integer($0) })
            try await insert(Self.shared, Self.entries(100..<400, of: test) { .long(Int64($0)) })
            let ids = { (number: Int) in ObjectID(high: 1, low: UInt32(number)) }
            try await insert(Self.shared, Self.entries(0..<300, of: test) { .objectID(ids($0)) })
            try await insert(Self.own, Self.entries(0..<300, of: test) { .string("\(ids($0))") })
        } _: { test, run in
            let check = try await run("check")
            #expect(check.exitCode == 1)
            #expect(
                check.output.contains("(1,200 entries of 600 documents in the ledger now)"),
                "\(check.output)")
            #expect(check.output.contains("Note: \(warning)"))
            let unsynced = try await run("unsynced")
            #expect(
                unsynced.output.hasPrefix(
                    "Sync has stopped: 600 documents are unsynced in 1,200 entries, and the limit is 1,000.\n"),
                "\(unsynced.output)")
            #expect(unsynced.output.contains("Note: \(warning)"))
            let report = try test.report(try await run("backfill"))
            let headroom = report["headroom"]?.document
            #expect(headroom?["ledger"] == 1_200 && headroom?["ledger_documents"] == 600, "\(report)")
            #expect(report["notes"]?.document?.values.contains { $0.text?.hasPrefix(warning) == true } == true)
        }
    }

    /// A check counts only the entries of the app that the schema belongs to.
    ///
    /// If that app has no entries, the check counts the entries of the other apps, and a note says so.
    @Test func theSchemaNamesTheApp() async throws {
        try await withLedgers { test, insert in
            try await insert(Self.shared, Self.entries(0..<20, of: test) { .integer($0) })
            try await insert(Self.shared, Self.entries(0..<50, of: test, app: "other") { .integer($0) })
        } _: { test, _ in
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            for (id, sum, isNoted) in [("\(Self.app)", "20", false), ("64f1c0de5ea51de5ca1ab1ff", "50", true)] {
                try folder.write(#"{ "name": "fleet", "app_id": "\#(id)" }"#, to: "app/root_config.json")
                try folder.write(
                    #"{ "title": "Task", "bsonType": "object", "properties": { "_id": { "bsonType": "int" } } }"#,
                    to: "app/data_sources/atlas/\(test.database.name)/tasks/schema.json")
                let run = try await Program.run(
                    ["check", "app", "--uri", test.uri, "SHIPSHAPE_LIMIT=10"], in: folder.path)
                #expect(run.output.contains("(\(sum) in the ledger now)"), "\(run.output)")
                #expect(run.output.contains("of the schema's app \(id): the entries of other apps count") == isNoted)
            }
        }
    }
}
