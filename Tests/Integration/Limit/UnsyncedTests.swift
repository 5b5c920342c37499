import BSON
import Mongo
import TestSupport
import Testing

/// Tests the report that `ledger show` makes of a ledger.
@Suite struct UnsyncedTests {
    private func with(_ body: (UnsyncedCase) async throws -> Void) async throws {
        try await UnsyncedCase.with(try await Mongod.shared, body)
    }

    @Test func countsByAppCollectionAndReason() async throws {
        try await with { test in
            try await test.fill()
            let run = try await test.unsynced(["SHIPSHAPE_LEDGER=DB.ledger", "SHIPSHAPE_LIMIT=100"])
            #expect(run.exitCode == 1)
            let name = test.database.name
            #expect(
                run.output.hasPrefix(
                    "7 documents are unsynced in 9 entries in the fullest of 2 apps: headroom 90 of 100.\n"))
            #expect(run.output.contains("app mine (\(name).ledger): 7 documents, 9 entries, headroom 90\n"))
            #expect(run.output.contains("app other (\(name).ledger): 1 document, 1 entry, headroom 98\n"))
            let rows = run.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
            #expect(rows.contains(["\(name).person", "5", "6", #""invalid"#, #"schema""#]))
            #expect(rows.contains(["\(name).thing", "2", "2", #""invalid"#, #"schema""#]))
            #expect(rows.contains(["(no", "document", "named)", "0", "1", #""odd""#]))
        }
    }

    @Test func aSchemaExplainsEveryEntry() async throws {
        try await with { test in
            try await test.fill()
            let run = try await test.unsynced(
                try test.schema() + ["SHIPSHAPE_LEDGER=DB.ledger", "SHIPSHAPE_APP_ID=mine", "--output", "json"])
            #expect(run.exitCode == 1)
            let report = try BSONDocument(extendedJSON: run.output)
            #expect(
                report["explained"]
                    == ["still_failing": 2, "possibly_failing": 1, "fit_now": 1, "gone": 1])
            let app = try #require(report["apps"]?.document?["0"]?.document)
            #expect(app["app"] == "mine")
            let collections = (app["collections"]?.document?.values ?? []).compactMap(\.document)
            #expect(collections.map { $0["is_covered"] } == [true, false, .null])
            let groups = (collections[0]["groups"]?.document?.values ?? []).compactMap(\.document)
            #expect(groups.map { $0["rule"] } == ["required-missing", "type-mismatch", "numeric-width-mismatch"])
            // The failing document that the ledger does not record is not counted.
            #expect(groups[0]["documents"] == 1)

            let text = try await test.unsynced(
                try test.schema() + ["SHIPSHAPE_LEDGER=DB.ledger", "SHIPSHAPE_APP_ID=mine"])
            #expect(text.output.contains(": why documents fail\n  count  level"), "\(text.output)")
            #expect(!text.output.contains(#"\n"#))
        }
    }

    @Test func staleEntriesAloneAreNoFinding() async throws {
        try await with { test in
            try await test.database.fill("person", [["_id": 4, "name": "Ada"]])
            try await test.database.fill("ledger", [4, 5].map { test.entry($0, of: "person", id: .integer($0)) })
            let run = try await test.unsynced(try test.schema() + ["SHIPSHAPE_LEDGER=DB.ledger"])
            #expect(run.exitCode == 0, "\(run.output)")
            #expect(run.output.contains("0 still fail, 0 might fail, 2 are stale (1 fit now, 1 are gone).\n"))
            #expect(try await test.unsynced(["SHIPSHAPE_LEDGER=DB.ledger"]).exitCode == 1)
            let full = try await test.unsynced(try test.schema() + ["SHIPSHAPE_LEDGER=DB.ledger", "SHIPSHAPE_LIMIT=2"])
            #expect(full.exitCode == 1)
            #expect(full.output.hasPrefix("Sync has stopped: 2 documents are unsynced, and the limit is 2. "))
        }
    }

    /// The document of a ledger entry is found even if the ledger stores the document's `_id` as another type.
    ///
    /// The ledger may store an ObjectId as text, and may store a text of 24 hex digits as an ObjectId.
    @Test func idsAreFoundInBothSpellings() async throws {
        let id = ObjectID(high: 0x64f1_c0de_5ea5_1de5, low: 0xca1a_b1e0)
        let schema = #"""
            { "bsonType": "object", "required": ["name"],
              "properties": { "_id": { "bsonType": "objectId" }, "name": { "bsonType": "string" } } }
            """#
        try await with { test in
            try await test.database.fill("person", [["_id": .objectID(id)], ["_id": "64f1c0de5ea51de5ca1ab1e1"]])
            try await test.database.fill(
                "ledger",
                [
                    test.entry(1, of: "person", id: .string("\(id)")), test.entry(2, of: "person", id: .objectID(id)),
                    test.entry(
                        3, of: "person", id: .objectID(ObjectID(high: id.high, low: id.low + 1))),
                ])
            let file = try test.folder.write(schema, to: "id.json")
            let run = try await test.unsynced([file, "--collection", "DB.person", "SHIPSHAPE_LEDGER=DB.ledger"])
            #expect(run.output.contains("2 documents, 3 entries"), "\(run.output)")
            #expect(run.output.contains("2 still fail, 0 might fail, 0 are stale"))
        }
    }

    @Test func moreEntriesThanABatchAreAllRead() async throws {
        try await with { test in
            try await test.database.fill("person", count: 2_500) {
                ["_id": .integer($0), "name": $0 % 5 == 0 ? 5 : "x"]
            }
            try await test.database.fill("ledger", count: 3_000) { test.entry($0, of: "person", id: .integer($0)) }
            let run = try await test.unsynced(try test.schema() + ["SHIPSHAPE_LEDGER=DB.ledger"])
            #expect(
                run.output.contains("500 still fail, 0 might fail, 2,500 are stale (2,000 fit now, 500 are gone)."),
                "\(run.output)")
        }
    }

    @Test func theAppsOwnDatabaseIsFound() async throws {
        try await with { test in
            try await test.database.fill("person", [["_id": 1, "name": "Ada"]])
            let app = "app\(test.database.name)"
            let ledger = Namespace(database: "__realm_sync_\(app)", collection: "unsynced_documents")
            let documents = [1, 2].map { test.entry($0, app: .string(app), of: "person", id: .integer($0)) }
            try await test.database.pool.withClient { client throws(MongoError) in
                _ = try client.collection(ledger).insertMany(documents)
            }
            let run = try await test.unsynced(["SHIPSHAPE_APP_ID=\(app)"])
            #expect(run.output.contains("app \(app) (\(ledger)): 2 documents, 2 entries"), "\(run.output)")
            let check = try await Program.run(
                try test.folder.check(test.database, on: test.mongod).filter { $0 != "SHIPSHAPE_LEDGER=none" }
                    + ["SHIPSHAPE_APP_ID=\(app)", "SHIPSHAPE_LIMIT=2"])
            #expect(check.output.contains("(2 in the ledger now)"), "\(check.output) \(check.errors)")
            let other = try await test.unsynced(["SHIPSHAPE_APP_ID=nobody-\(app)", "SHIPSHAPE_LEDGER=\(ledger)"])
            #expect(other.exitCode == 0)
            #expect(other.output.contains("the ledger has no entry of the app nobody-\(app)"))
            _ = try await test.database.pool.withClient { client throws(MongoError) in
                try client.runCommand(["dropDatabase": 1], on: ledger.database)
            }
        }
    }

    @Test func aLedgerThatIsNamedAndNotThereIsRefused() async throws {
        try await with { test in
            // A ledger that the setting `ledger` names must exist. Without the setting, the server need not have a
            // ledger.
            let named = try await test.unsynced(["SHIPSHAPE_LEDGER=DB.nothing"])
            #expect(named.exitCode == 64)
            #expect(named.output == "")
            #expect(
                named.errors
                    == "shipshape: ledger \(test.database.name).nothing: there is no such collection (if there is no "
                    + "ledger, set ledger to none)\n")
        }
    }

    @Test(arguments: [
        ["SHIPSHAPE_LEDGER=none"], ["--collection", "a.b"],
        ["--collection", "nodot", "schema.json"],
    ])
    func wrongUsageIsRefused(_ arguments: [String]) async throws {
        let run = try await Program.run(["ledger", "show", "--uri", "mongodb://127.0.0.1:1"] + arguments)
        #expect(run.exitCode == 64, "\(run.errors)")
    }

    @Test func idsCanBeHashedOrLeftOut() async throws {
        try await with { test in
            try await test.database.fill("person", [["_id": 770_077_007]])
            try await test.database.fill("ledger", [test.entry(1, of: "person", id: 770_077_007)])
            for (display, isShown) in [("show", true), ("hash", false), ("none", false)] {
                for form in ["text", "json"] {
                    let run = try await test.unsynced(
                        try test.schema() + [
                            "SHIPSHAPE_LEDGER=DB.ledger", "SHIPSHAPE_IDS=\(display)", "--output", form,
                        ])
                    #expect(run.output.contains("770077007") == isShown, "\(display) \(form)")
                    #expect(run.output.contains("#") || display != "hash")
                }
            }
        }
    }
}

extension UnsyncedTests {
    /// A reason that the sync engine recorded may quote values of a document; the report shows the values only on
    /// request.
    @Test func reasonsShowNoValues() async throws {
        try await UnsyncedCase.with(try await Mongod.shared) { test in
            let reasons = [
                #"field "name" is "s3cret-value" (12345)"#, #"field "name" is "s3cret-other" (678)"#,
                "mail s3cret@x.org",
            ]
            try await test.database.fill(
                "ledger",
                reasons.enumerated().map { test.entry($0.offset, of: "person", id: 1, reason: $0.element) })
            for form in ["text", "json"] {
                let ledger = ["SHIPSHAPE_LEDGER=DB.ledger", "--output", form]
                for ids in ["none", "hash"] {
                    let hidden = try await test.unsynced(ledger + ["SHIPSHAPE_IDS=\(ids)"])
                    #expect(!hidden.output.contains("s3cret") && !hidden.output.contains("12345"), "\(hidden.output)")
                    #expect(hidden.output.contains("the ledger's reasons are not shown"))
                }
                let shown = try await test.unsynced(ledger)
                #expect(!shown.output.contains("s3cret-") && !shown.output.contains("12345"), "\(shown.output)")
                #expect(shown.output.contains("field"))
                let whole = try await test.unsynced(ledger + ["--show-values"])
                #expect(whole.output.contains("s3cret-value"))
            }
        }
    }
}
