import BSON
import TestSupport
import Testing

/// Tests how `check`, `plan` and a job count the links to each document that the new schema turns into an embedded
/// object.
///
/// The links in all collections of the app count.
///
/// A document can become an embedded object only if exactly one link leads to it. There is one error for documents
/// without a link, and another error for documents with several links.
@Suite struct BacklinkTests {
    private typealias Case = CheckVerdictCase
    private static let address = Case.schema("Address", ["city": "string"])
    private static let embedded =
        #"{ "title": "Address", "bsonType": "object", "properties": { "city": { "bsonType": "string" } } }"#
    private static let list = #"{ "bsonType": "array", "items": { "bsonType": "int" } }"#

    /// Runs a test with seven addresses.
    ///
    /// People link to them in `home` and `work`, and companies in `hq` and `sites`.
    private func withAddresses(_ body: (CheckVerdictCase) async throws -> Void) async throws {
        try await Case.with { test in
            try await test.database.fill("Address", (1...7).map { ["_id": .integer($0), "city": "x"] })
            try await test.database.fill(
                "Person",
                [
                    ["_id": 1, "home": 1, "work": 2], ["_id": 2, "home": 3, "work": 3], ["_id": 3, "home": 4],
                    ["_id": 4, "home": .null, "work": .long(6)], ["_id": 5, "home": 99],
                ])
            try await test.database.fill("Company", [["_id": 1, "hq": 4], ["_id": 2, "sites": [5, 99]]])
            let links = [
                "Person": ["home": "Address", "work": "Address"], "Company": ["hq": "Address", "sites[]": "Address"],
            ]
            try test.write(
                "v1",
                [
                    "Address": Self.address, "Person": Case.schema("Person", ["home": "int", "work": "int"]),
                    "Company": Case.schema("Company", ["hq": "int", "sites": Self.list]),
                ], links: links)
            try test.write(
                "v2",
                [
                    "Address": Self.address,
                    "Person": Case.schema("Person", ["home": Self.embedded, "work": Self.embedded]),
                    "Company": Case.schema("Company", ["hq": Self.embedded, "sites": Self.list]),
                ], links: ["Company": ["sites[]": "Address"]])
            try await body(test)
        }
    }

    /// Two links lead to address 3, the `home` and the `work` of one person.
    ///
    /// Two links lead to address 4, a person's `home` and a company's `hq`.
    ///
    /// One link leads to each of the addresses 1, 2, 5 and 6. The link to 2 is in `work`, the link to 5 is in the list
    /// `sites`, and the link to 6 is a long instead of an int. No link leads to address 7.
    @Test func everyLinkOfTheAppCounts() async throws {
        try await withAddresses { test in
            let run = try await test.check()
            let name = test.database.name
            #expect(run.exitCode == 1)
            #expect(
                run.output.contains("): 1 document without a parent, 4 with one, 2 with several"), "\(run.output)")
            #expect(run.output.contains("Person.home") && run.output.contains("Company.hq"))
            #expect(
                run.output.contains(
                    "At least one object does not have a backlink (data would get lost). (1 document, such as _id 7)\n")
            )
            #expect(
                run.output.contains(
                    "At least one object does have multiple backlinks. (2 documents, such as _id 3, 4)\n"))
            let change = try await test.verdict()["parts"]?.document?["change"]?.document
            let links = try #require(change?["backlinks"]?.document?["0"]?.document)
            #expect(links["collection"] == .string("\(name).Address"))
            #expect(["without", "one", "several"].map { links[$0]?.document?["documents"] } == [1, 4, 2])
            #expect(links["places"]?.document?.values.count == 4)
            let hidden = try await test.check("SHIPSHAPE_IDS=none")
            #expect(!hidden.output.contains("such as _id"), "\(hidden.output)")
        }
    }

    /// A person's `home` is already an embedded object.
    ///
    /// It does not count as a link, and the report says so.
    @Test func linksThatAreEmbeddedAlreadyAreReported() async throws {
        try await withAddresses { test in
            try await test.database.run([
                "update": "Person", "updates": [["q": ["_id": 1], "u": ["$set": ["home": ["city": "x"]]]]],
            ])
            let run = try await test.check()
            #expect(run.output.contains("(2 documents, such as _id 1, 7; 1 link is embedded already)"), "\(run.output)")
        }
    }

    /// `plan --uri` shows how many documents have no parent, one parent and several parents, in its text and its JSON.
    @Test func aPlanCountsTheParents() async throws {
        try await withAddresses { test in
            let plan = ["plan", "v1", "v2", "--uri", test.mongod.uri, "--out", "jobs"]
            let run = try await Program.run(plan, in: test.folder.path)
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.contains("1 document without a parent, 4 with one, 2 with several"), "\(run.output)")
            let json = try await Program.run(plan + ["--force", "--output", "json"], in: test.folder.path)
            let report = try BSONDocument(extendedJSON: json.output)
            let entries = [report["remarks"], report["jobs"]?.document?["0"]?.document?["entries"]]
                .flatMap { $0?.document?.values ?? [] }.compactMap { $0.document?["parents"]?.document }
            #expect(!entries.isEmpty)
            #expect(entries.allSatisfy { $0["several"]?.document?["documents"] == 2 })
            let offline = try await Program.run(["plan", "v1", "v2", "--out", "jobs", "--force"], in: test.folder.path)
            #expect(!offline.output.contains("without a parent"))
        }
    }

    /// A job with the step `embed` counts the links in all collections of its schemas, not only in the step's field.
    ///
    /// If only one person's `work` links to an address, the address therefore has one parent. If a person's `home` and
    /// a company's `hq` link to it, the address has two parents.
    @Test func aJobThatEmbedsCountsThemToo() async throws {
        try await withAddresses { test in
            let step = { (more: String) in
                "job: embed\ncollection: \(test.database.name).Person\nschema: {active: v1, next: v2}\n"
                    + "steps:\n  - embed: {field: home, from: \(test.database.name).Address\(more)}\n"
            }
            let run = { (more: String, flags: [String]) in
                _ = try test.folder.write(step(more), to: "embed.yml")
                return try await Program.run(
                    [
                        "backfill", "embed.yml", "--uri", test.mongod.uri, "SHIPSHAPE_LEDGER=none",
                        "SHIPSHAPE_STATE_DATABASE=\(test.database.name)_state",
                    ] + flags, in: test.folder.path)
            }
            let refused = try await run("", ["--dry-run"])
            #expect(refused.exitCode == 1)
            #expect(refused.output.contains("(data would get lost). 1 document of"), "\(refused.output)")
            #expect(refused.output.contains("multiple backlinks. 2 documents of"), "\(refused.output)")
            let left = try await run(", orphans: leave, shared: leave", ["--dry-run", "--output", "json"])
            let report = try BSONDocument(extendedJSON: left.output)
            // Four people have the homes 1, 3, 4 and 99. Home 1 has one parent, 3 and 4 have several, and 99 does not
            // exist.
            #expect(report.skipped("At least one object does have multiple backlinks.") == 2, "\(left.output)")
            #expect(report.skipped("the linked document is not there") == 1)
        }
    }
}
