import BSON
import JobsSupport
import Testing

@testable import Jobs
@testable import Steps

/// Tests which collections a job may name, and the limit on the size of its file.
@Suite struct JobBoundsTests {
    private static func refusal(_ text: String) -> String? {
        Fixture.failure { try JobFile.parse(text, path: "j.yml") }
    }

    @Test(arguments: [
        "admin.a", "config.a", "local.oplog.rs", "__realm_sync.unsynced_documents", "__realm_sync_0123.history",
        "app.system.views", "\"app.a\\0b\"", "app.\(String(repeating: "x", count: 252))",
        "\(String(repeating: "x", count: 64)).a",
    ])
    func collectionsOfTheServerAndOfSyncAreRefused(_ name: String) {
        #expect(
            Self.refusal("job: a\ncollection: \(name)\nsteps: [copy: {from: d, to: e}]")?
                .hasPrefix("j.yml:2:13: \"collection\" cannot be ") == true)
        for step in [
            "extract: {field: a, generate: objectId, to: \(name)}", "embed: {field: a, from: \(name)}",
            "map: {field: a, lookup: \(name)}",
        ] {
            let error = Self.refusal("job: a\ncollection: b.c\nsteps:\n  - \(step)")
            #expect(error?.hasPrefix("j.yml:4:") == true && error?.contains(" cannot be ") == true, "\(error ?? step)")
        }
    }

    @Test func theStateDatabaseAndTheLedgerAreRefusedWhereverTheyAre() throws {
        let text = """
            job: a
            collection: b.c
            steps:
              - embed: {field: a, from: jobs.ranges}
              - extract: {field: d, generate: objectId, to: own.ledger}
            """
        let job = try JobFile.parse(text, path: "j.yml")
        func refusal(_ database: String, _ ledger: Namespace?) -> String? {
            Fixture.failure { try job.checkNamespaces(stateDatabase: database, ledger: ledger) }
        }
        #expect(refusal("shipshape", nil) == nil)
        for name in ["jobs", "Jobs"] {
            #expect(
                refusal(name, nil)?.hasPrefix("j.yml:4:5: no job can use jobs.ranges: the database holds the state")
                    == true)
        }
        #expect(
            refusal("shipshape", Namespace("own.ledger"))
                == "j.yml:5:5: no job can use own.ledger: it is the ledger of unsynced documents, which is only read")
        #expect(refusal("b", nil)?.hasPrefix("j.yml:2:13: no job can use b.c: ") == true)
    }

    @Test func aNumberBeyondAllCountsIsRefused() {
        for (limits, column) in [
            ("unsynced: 9223372036854775807", 20), ("chunk: {documents: 9223372036854775807}", 29),
        ] {
            let error = Self.refusal("job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]\nlimits: {\(limits)}")
            #expect(error?.hasPrefix("j.yml:4:\(column): ") == true, "\(error ?? limits)")
            #expect(error?.hasSuffix(" must be a whole number of at most 1000000000000") == true)
        }
        #expect(
            Self.refusal("job: a\ncollection: b.c\nsteps: [copy: {from: d, to: e}]\nlimits: {unsynced: 1000000000000}")
                == nil)
    }

    @Test func anAliasIsRefusedBeforeItIsExpanded() {
        var text =
            "job: a\ncollection: b.c\nsteps:\n  - default:\n      field: e\n      value:\n        - &a0 [x, x, x, x, "
            + "x, x, x, x, x]\n"
        for level in 1...9 {
            let inner = Array(repeating: "*a\(level - 1)", count: 9).joined(separator: ", ")
            text += "        - &a\(level) [\(inner)]\n"
        }
        #expect(
            Self.refusal(text) == "j.yml:8:16: aliases are not supported: write out the value that this one refers to")
    }

    @Test func depthAndCountOfValuesAreBounded() {
        let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        #expect(Self.refusal("job: \(deep)")?.hasSuffix("values are nested deeper than 100 levels") == true)
        let many = "job: [" + String(repeating: "1,", count: 300_000) + "]"
        #expect(Self.refusal(many)?.hasSuffix("the file holds more than 250000 values: divide it") == true)
    }
}
