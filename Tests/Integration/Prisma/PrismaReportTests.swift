import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests what people reported about Prisma on MongoDB: which documents fail, and which of them the planned jobs repair.
///
/// The expected documents and rules are written from Prisma's source. `#1` in a document stands for the ObjectId with
/// this number. Reports 18 to 21 have tests of their own: `ContractServerTests`, `PrismaFileTests`, `PrismaTests` and
/// `PrismaRelationTests`.
@Suite struct PrismaReportTests {
    struct Report: CustomTestStringConvertible, Sendable {
        let number: Int
        let links: String
        /// The blocks of the schema; a model without an `@id` has one of type `Int`.
        let schema: String
        /// The documents of each collection.
        let documents: [String: [String]]
        /// The rules that each failing document breaks, by collection and `_id`.
        let failing: [String: Set<String>]
        /// The documents that still fail after the planned jobs.
        var left: Set<String> = []
        var flags: [String] = []

        var testDescription: String { "\(number): \(links)" }
    }

    static let reports = [
        Report(
            number: 1, links: "orm#14815, orm#16023: dates that a raw command wrote",
            schema: "model A {\n at DateTime\n}",
            documents: [
                "A": [
                    #"{"_id": 1, "at": {"$date": "2024-01-01T00:00:00Z"}}"#,
                    #"{"_id": 2, "at": "2024-01-01T00:00:00Z"}"#,
                    #"{"_id": 3, "at": {"$numberLong": "1704067200000"}}"#, #"{"_id": 4, "at": {"iso": "2024"}}"#,
                    #"{"_id": 5, "at": "06/09/2022"}"#,
                ]
            ],
            failing: [
                "A/2": ["type-mismatch"], "A/3": ["type-mismatch"], "A/4": ["type-mismatch"], "A/5": ["type-mismatch"],
            ], left: ["A/4", "A/5"]),
        Report(
            number: 2, links: "orm#23519: dates as strings inside of a type",
            schema: "type Stop {\n at DateTime\n}\nmodel Trip {\n stops Stop[]\n}",
            documents: [
                "Trip": [
                    #"{"_id": 1, "stops": [{"at": {"$date": "2024-01-01T00:00:00Z"}}]}"#,
                    #"{"_id": 2, "stops": [{"at": "2024-01-01T00:00:00Z"}, {"at": {"$date": "2024-01-01T00:00:00Z"}}]}"#,
                ]
            ], failing: ["Trip/2": ["type-mismatch"]]),
        Report(
            number: 3, links: "orm#27312: a list of scalars that a type lacks reads as null",
            schema: "type Refs {\n boards String[]\n}\nmodel Card {\n refs Refs\n}",
            documents: ["Card": [#"{"_id": 1, "refs": {}}"#]], failing: [:]),
        Report(
            number: 4, links: "orm#12827, #23870, #13444, #14267, #14697, #17689: a new unique index",
            schema: "model User {\n email String @unique\n mobile String? @unique\n}",
            documents: [
                "User": [
                    #"{"_id": 1, "email": "a", "mobile": "1"}"#, #"{"_id": 2, "email": "a", "mobile": "2"}"#,
                    #"{"_id": 3, "email": "b"}"#, #"{"_id": 4, "email": "c", "mobile": null}"#,
                    #"{"_id": 5, "email": "A", "mobile": "3"}"#,
                ]
            ],
            failing: [
                "User/1": ["unique-duplicate"], "User/2": ["unique-duplicate"], "User/3": ["unique-null"],
                "User/4": ["unique-null"],
            ], left: ["User/3", "User/4"]),
        Report(
            number: 5, links: "orm#13816, prisma-engines#4116: the document of a required relation is gone",
            schema: """
                model Author {
                  books Book[]
                }
                model Book {
                  authorId Int
                  author Author @relation(fields: [authorId], references: [id])
                }
                """,
            documents: [
                "Author": [#"{"_id": 1}"#], "Book": [#"{"_id": 1, "authorId": 1}"#, #"{"_id": 2, "authorId": 2}"#],
            ], failing: ["Book/2": ["link-dangling"]], left: ["Book/2"], flags: ["--follow-links"]),
        Report(
            number: 6, links: "orm#12608, orm#18489, studio#897: keys under @db.ObjectId that are strings",
            schema: "model Post {\n authorId String @db.ObjectId\n}",
            documents: [
                "Post": [
                    ##"{"_id": 1, "authorId": #7}"##, #"{"_id": 2, "authorId": "000000000000000000000007"}"#,
                    #"{"_id": 3, "authorId": "bob"}"#,
                ]
            ], failing: ["Post/2": ["stored-type"], "Post/3": ["malformed-object-id"]], left: ["Post/3"]),
        Report(
            number: 7, links: "orm#15702: a key without @db.ObjectId", schema: "model Post {\n authorId String\n}",
            documents: ["Post": [#"{"_id": 1, "authorId": "a"}"#, ##"{"_id": 2, "authorId": #7}"##]],
            failing: ["Post/2": ["stored-type"]]),
        Report(
            number: 8, links: "orm#24680, orm#19665: createdAt on old documents",
            schema: "model A {\n createdAt DateTime @default(now())\n}", documents: ["A": [#"{"_id": 1}"#]],
            failing: ["A/1": ["required-missing"]]),
        Report(
            number: 9, links: "orm#27589: a field with a constant default", schema: "model A {\n n Int @default(0)\n}",
            documents: ["A": [#"{"_id": 1}"#]], failing: [:]),
        Report(
            number: 10, links: "orm#16014, orm#12078: a required type whose fields all have defaults",
            schema: "type T {\n quiet Boolean @default(false)\n}\nmodel Room {\n t T\n}",
            documents: ["Room": [#"{"_id": 1}"#, #"{"_id": 2, "t": {}}"#]], failing: ["Room/1": ["required-missing"]],
            left: ["Room/1"]),
        Report(
            number: 11, links: "orm#9654, orm#11808, orm#10016: several types", schema: "model A {\n n Int\n}",
            documents: ["A": [#"{"_id": 1, "n": "5"}"#, #"{"_id": 2, "n": 5}"#, #"{"_id": 3, "n": 5.5}"#]],
            failing: ["A/1": ["type-mismatch"]]),
        Report(
            number: 12, links: "orm#22388, orm#24164, better-auth#1100: _ids of several types",
            schema: "model A {\n id String @id @map(\"_id\") @db.ObjectId\n}",
            documents: [
                "A": [
                    ##"{"_id": #1}"##, #"{"_id": "000000000000000000000002"}"#,
                    #"{"_id": "ckopqwooh000001la8mbi2im9"}"#, #"{"_id": 4}"#,
                ]
            ],
            failing: [
                "A/000000000000000000000002": ["stored-type"],
                "A/ckopqwooh000001la8mbi2im9": ["malformed-object-id"], "A/4": ["type-mismatch"],
            ], left: ["A/000000000000000000000002", "A/ckopqwooh000001la8mbi2im9", "A/4"]),
        Report(
            number: 13, links: "orm#12188: null in a list", schema: "model A {\n tags String[]\n}",
            documents: ["A": [#"{"_id": 1, "tags": ["a", null]}"#]], failing: ["A/1": ["array-item-null"]]),
        Report(
            number: 14, links: "orm#7030: a new required field", schema: "model A {\n email String\n}",
            documents: ["A": [#"{"_id": 1}"#, #"{"_id": 2, "email": null}"#, #"{"_id": 3, "email": ""}"#]],
            failing: ["A/1": ["required-missing"], "A/2": ["required-null"]]),
        Report(
            number: 15, links: "studio#1220: a value that is not of the enum",
            schema: "enum Role {\n ADMIN\n USER\n}\nmodel A {\n role Role\n}",
            documents: ["A": [#"{"_id": 1, "role": "ROOT"}"#, #"{"_id": 2, "role": "USER"}"#]],
            failing: ["A/1": ["not-in-enum"]], left: ["A/1"]),
        Report(
            number: 16, links: "orm#24262, orm#12637, orm#3492: numbers, booleans and bytes",
            schema: "model A {\n a Int?\n b Boolean?\n c Float?\n d Bytes?\n}",
            documents: [
                "A": [
                    #"{"_id": 1, "a": "7"}"#, #"{"_id": 2, "b": 1}"#, #"{"_id": 3, "c": {"$numberDecimal": "1.5"}}"#,
                    #"{"_id": 4, "d": "QUJD"}"#, #"{"_id": 5, "a": {"$numberLong": "5"}, "c": 5}"#,
                    #"{"_id": 6, "c": {"$numberDouble": "NaN"}}"#,
                ]
            ],
            failing: [
                "A/1": ["type-mismatch"], "A/2": ["type-mismatch"], "A/3": ["type-mismatch"], "A/4": ["type-mismatch"],
                "A/6": ["type-mismatch"],
            ], left: ["A/4", "A/6"]),
        Report(
            number: 17, links: "a forgotten @map: the value has another name",
            schema: "model A {\n firstName String\n}",
            documents: ["A": [#"{"_id": 1, "first_name": "a"}"#]], failing: ["A/1": ["required-missing"]]),
        Report(
            number: 22, links: "orm#10016: shapes of several kinds",
            schema: "type Place {\n type String\n coordinates Float[]\n}\nmodel A {\n at Place\n}",
            documents: [
                "A": [
                    #"{"_id": 1, "at": {"type": "Point", "coordinates": [1, 2.5]}}"#,
                    #"{"_id": 2, "at": {"type": "Polygon", "coordinates": [[1, 2], [3, 4]]}}"#,
                    #"{"_id": 3, "at": "here"}"#,
                ]
            ], failing: ["A/2": ["array-nested"], "A/3": ["embedded-not-object"]], left: ["A/2", "A/3"]),
    ]

    @Test(arguments: reports) func eachFailingDocumentIsFoundAndRepaired(_ report: Report) async throws {
        try await Mongod.shared.withBackfill { backfill in
            for (collection, documents) in report.documents {
                try await backfill.database.fill(collection, try documents.map(PrismaDocuments.document))
            }
            let prisma = try PrismaDocuments(report.schema, in: backfill)
            let before = try await prisma.failing(report.flags)
            #expect(before == report.failing)
            try await prisma.repair()
            #expect(Set(try await prisma.failing(report.flags).keys) == report.left)
        }
    }
}

/// A Prisma schema, and the documents of a test's database that it does not describe.
struct PrismaDocuments {
    private let backfill: BackfillCase
    private let file: String

    /// Writes the schema; a model without an `@id` gets one of type `Int`.
    init(_ blocks: String, in backfill: BackfillCase) throws {
        self.backfill = backfill
        let schema = blocks.replacing(/model (\w+) \{\n([^}]*)\}/) { match in
            let id = match.output.2.contains("@id") ? "" : " id Int @id @map(\"_id\")\n"
            return "model \(match.output.1) {\n\(id)\(match.output.2)}"
        }
        try backfill.write("s.prisma", "datasource db {\n  provider = \"mongodb\"\n}\n" + schema)
        file = backfill.folder.appending("s.prisma").string
    }

    /// Reads a document from extended JSON, in which `#7` is the ObjectId with this number.
    static func document(_ text: String) throws -> BSONDocument {
        let ids = text.replacing(/#(\d+)/) { match in
            #"{"$oid": "\#(ObjectID(high: 0, low: UInt32(match.output.1) ?? 0))"}"#
        }
        return try BSONDocument(extendedJSON: ids)
    }

    func run(_ arguments: [String]) async throws -> ProgramRun {
        try await Program.run(
            arguments + ["--uri", backfill.uri, "SHIPSHAPE_DATABASE=\(backfill.database.name)", "SHIPSHAPE_THREADS=1"])
    }

    /// Returns the rules that each document breaks that fails a check, by collection and `_id`; the check ends with 1
    /// exactly if there is one.
    func failing(_ flags: [String] = []) async throws -> [String: Set<String>] {
        let path = backfill.folder.appending("failing.jsonl").string
        let run = try await run(["check", file, "--failures", path] + flags)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        var failing: [String: Set<String>] = [:]
        for line in lines.map({ try? BSONDocument(extendedJSON: String($0)) }) where line?["record"] == "failure" {
            guard let collection = line?["collection"]?.text, let id = line?["_id"] else { continue }
            let name = if case .int(let number) = id { "\(number)" } else { id.text ?? "" }
            let rules = (line?["violations"]?.document?.values ?? []).compactMap(\.document)
                .filter { $0["level"] == "certain" }.compactMap { $0["rule"]?.text }
            failing["\(collection)/\(name)", default: []].formUnion(rules)
        }
        #expect(run.exitCode == (failing.isEmpty ? 0 : 1), "\(run.output)\(run.errors)")
        return failing
    }

    /// Plans the jobs that repair the documents, and runs those that have steps.
    func repair() async throws {
        let jobs = backfill.folder.appending("jobs")
        _ = try await run(["plan", file, "--out", jobs.string])
        for name in PlanCase.files(in: jobs) {
            let job = jobs.appending(name).string
            guard try String(contentsOfFile: job, encoding: .utf8).contains("\nsteps:") else { continue }
            let state = "SHIPSHAPE_STATE_DATABASE=\(backfill.state.name)"
            let run = try await run(["backfill", job, "--yes", "--reviewed", state])
            #expect([0, 1].contains(run.exitCode), "\(run.output)\(run.errors)")
        }
    }
}
