import BSON
import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Tests the judgement of unique indexes; `createIndex` on the server is the oracle.
@Suite struct UniqueTests {
    /// Returns the text of a Prisma schema with one model for the collection `U`.
    static func schema(_ lines: String...) -> String {
        """
        datasource db {
          provider = "mongodb"
        }
        model U {
          id Int @id @map("_id")
          \(lines.joined(separator: "\n  "))
        }
        type Address {
          number Int? @map("nr")
          x Json?
        }
        """
    }

    /// A check of the collection `U`, and what the server says of the same index.
    struct Outcome {
        var exitCode: Int32?
        var output: String
        /// The `_id`s of the failing documents, by the rule that each breaks.
        var failing: [String: Set<Int>] = [:]
        /// The collection in the JSON report.
        var collection: BSONDocument

        var all: Set<Int> { failing.values.reduce([]) { $0.union($1) } }

        func group(_ rule: String) -> BSONDocument? {
            collection["groups"]?.document?.values.compactMap(\.document).first { $0["rule"]?.text == rule }
        }
    }

    static func check(
        _ backfill: BackfillCase, _ file: String = "s.prisma", _ flags: [String] = []
    ) async throws -> Outcome {
        let failures = backfill.folder.appending("failing.jsonl").string
        let run = try await Program.run(
            [
                "check", backfill.folder.appending(file).string, "-o", "json", "--failures", failures,
                "SHIPSHAPE_DATABASE=\(backfill.database.name)",
            ] + (flags.contains("--source") ? [] : ["--uri", backfill.uri]) + flags)
        let report = try BSONDocument(extendedJSON: run.output.isEmpty ? "{}" : run.output)
        let collection = report["collections"]?.document?.values.first?.document ?? [:]
        var outcome = Outcome(exitCode: run.exitCode, output: run.output + run.errors, collection: collection)
        for line in try String(contentsOfFile: failures, encoding: .utf8).split(separator: "\n") {
            let record = try BSONDocument(extendedJSON: String(line))
            guard let id = record["_id"]?.integer else { continue }
            for violation in record["violations"]?.document?.values.compactMap(\.document) ?? [] {
                outcome.failing[violation["rule"]?.text ?? "", default: []].insert(id)
            }
        }
        return outcome
    }

    /// Creates an index, and returns the code of the server's error; `nil` if the server accepts the documents.
    static func create(
        _ paths: [String], in database: TestDatabase, _ collection: String = "U", isSparse: Bool = false,
        collation: BSONDocument? = nil, filter: BSONDocument? = nil
    ) async throws -> Int? {
        let options: [(String, BSONValue)] = [
            ("key", .object(BSONDocument(paths.map { ($0, 1) }))), ("name", "u"), ("unique", true),
            ("sparse", .bool(isSparse)),
        ]
        let rest = [("collation", collation), ("partialFilterExpression", filter)].compactMap { name, value in
            value.map { (name, BSONValue.object($0)) }
        }
        let index = BSONValue.object(BSONDocument(options + rest))
        do {
            _ = try await database.run(["createIndexes": .string(collection), "indexes": .array(of: [index])])
            return nil
        } catch {
            return Int("\(error)".contains("parallel arrays") ? 171 : 11_000)
        }
    }

    static func with<R>(
        _ documents: [BSONDocument], _ schema: String, _ body: (BackfillCase) async throws -> R
    ) async throws -> R {
        try await Mongod.shared.withBackfill { backfill in
            try await backfill.database.fill("U", documents)
            try backfill.write("s.prisma", schema)
            return try await body(backfill)
        }
    }

    // MARK: the public reports

    /// A report on `db push`: the fields of a model, its documents, and the documents that the index refuses.
    private struct Report: CustomTestStringConvertible, Sendable {
        var issue: String
        var fields: [String]
        var documents: [BSONDocument]
        var duplicates: Set<Int> = []
        var nulls: Set<Int> = []
        var testDescription: String { issue }
    }

    private static let reports = [
        Report(
            issue: "orm 12827: one email twice", fields: ["email String @unique"],
            documents: [["_id": 1, "email": "a"], ["_id": 2, "email": "b"], ["_id": 3, "email": "a"]],
            duplicates: [1, 3]),
        Report(
            issue: "orm 23870: two documents without the optional field",
            fields: ["email String", "mobile String? @unique"],
            documents: [
                ["_id": 1, "email": "a"], ["_id": 2, "email": "b", "mobile": nil],
                ["_id": 3, "email": "c", "mobile": "1"],
            ], nulls: [1, 2]),
        Report(
            issue: "orm 13444: a pair", fields: ["email String", "tenant String?", "@@unique([email, tenant])"],
            documents: [
                ["_id": 1, "email": "a", "tenant": "x"], ["_id": 2, "email": "a", "tenant": "y"],
                ["_id": 3, "email": "a", "tenant": "x"], ["_id": 4, "email": "b"], ["_id": 5, "email": "b"],
            ], duplicates: [1, 3], nulls: [4, 5]),
        Report(
            issue: "orm 14267: a path into a type",
            fields: ["a Address?", "@@unique([a.number(sort: Desc)], map: \"n\")"],
            documents: [
                ["_id": 1, "a": ["nr": 1]], ["_id": 2, "a": ["nr": 1.0]], ["_id": 3, "a": ["nr": 2]], ["_id": 4],
            ], duplicates: [1, 2]),
        Report(
            issue: "orm 14697: a list", fields: ["tags String[] @unique"],
            documents: [
                ["_id": 1, "tags": ["a", "b", "a"]], ["_id": 2, "tags": ["c", "b"]], ["_id": 3, "tags": []],
                ["_id": 4, "tags": ["d"]],
            ], duplicates: [1, 2]),
        Report(
            issue: "orm 17689: two empty lists", fields: ["tags String[] @unique"],
            documents: [["_id": 1, "tags": []], ["_id": 2, "tags": []], ["_id": 3, "tags": ["a"]]], duplicates: [1, 2]),
    ]

    @Test(arguments: reports) private func everyReportIsFoundBeforeTheDeploy(_ report: Report) async throws {
        let new = Self.schema(report.fields.joined(separator: "\n  "))
        try await Self.with(report.documents, new) { backfill in
            let old = new.replacing(#/ @unique|@@unique.*/#, with: "")
            try backfill.write("old.prisma", old)
            for flags in [[], ["--active", backfill.folder.appending("old.prisma").string]] as [[String]] {
                let failures = try await Self.check(backfill, "s.prisma", flags)
                #expect(failures.exitCode == 1, "\(failures.output)")
                #expect(failures.failing["unique-duplicate", default: []] == report.duplicates, "\(failures.output)")
                #expect(failures.failing["unique-null", default: []] == report.nulls, "\(failures.output)")
                #expect(!failures.output.contains("Safe to deploy"))
            }
            let arguments = ["--uri", backfill.uri, "SHIPSHAPE_DATABASE=\(backfill.database.name)"]
            let files = ["old.prisma", "s.prisma"].map { backfill.folder.appending($0).string }
            let diff = try await Program.run(["diff"] + files + arguments)
            let count = report.duplicates.union(report.nulls).count
            #expect(diff.exitCode == 1, "\(diff.output)\(diff.errors)")
            #expect(
                diff.output.contains("unique-added  \(count) of \(report.documents.count) documents"), "\(diff.output)")
            let back = try await Program.run(["diff"] + files.reversed() + arguments)
            #expect(back.exitCode == 0 && back.output.contains("unique-removed"), "\(back.output)")
            let plan = try await Program.run(["plan", files[1]] + arguments)
            // Values that several documents have are in each partial index too.
            if !report.nulls.isEmpty { #expect(plan.output.contains("partialFilterExpression"), "\(plan.output)") }
        }
    }

    /// A text that contains the `_id` gets a value of its own too, and so does an empty one.
    @Test func theServerAcceptsTheIndexAfterThePlannedJob() async throws {
        let values = ["bob1@x", "bob1@x", "", ""]
        let documents = values.enumerated().map { BSONDocument([("_id", .integer($0 + 1)), ("email", .string($1))]) }
        try await Self.with(documents, Self.schema("email String @unique")) { backfill in
            let (file, jobs) = (backfill.folder.appending("s.prisma").string, backfill.folder.appending("jobs").string)
            let place = ["--uri", backfill.uri, "SHIPSHAPE_DATABASE=\(backfill.database.name)"]
            let plan = try await Program.run(["plan", file, "--out", jobs] + place)
            #expect(!plan.output.contains("unset"), "a required field stays: \(plan.output)")
            let run = try await Program.run(
                ["backfill", jobs, "--yes", "--reviewed", "SHIPSHAPE_STATE_DATABASE=\(backfill.state.name)"] + place)
            #expect(run.exitCode == 0, "\(plan.output)\(run.output)\(run.errors)")
            #expect(try await Self.create(["email"], in: backfill.database) == nil)
        }
    }

    /// The server accepts the index that the plan proposes.
    @Test func aPairWithoutAValueGetsAPartialIndex() async throws {
        let documents: [BSONDocument] = [["_id": 1, "n": 1], ["_id": 2, "n": 1]]
        let schema = Self.schema("n Int", "age Int?", "a Address?", "@@unique([n, age])", "@@unique([a.number])")
        try await Self.with(documents, schema) { backfill in
            let kept = backfill.folder.appending("plan.txt").string
            let plan = try await Program.run([
                "plan", backfill.folder.appending("s.prisma").string, "--uri", backfill.uri,
                "SHIPSHAPE_DATABASE=\(backfill.database.name)", "--report", kept,
            ])
            let text = try String(contentsOfFile: kept, encoding: .utf8)
            #expect(text.contains(#"{ "$or": [{ "n": null }, { "age": null }] }"#), "a file has the filter: \(text)")
            let types: BSONValue = ["$type": ["number", "bool"]]
            for paths in [["n", "age"], ["a.nr"]] {
                let filter = BSONDocument(paths.map { ($0, types) })
                let text = try filter.extendedJSON(.relaxed)
                #expect(plan.output.contains(text), "\(plan.output)")
                let index: BSONValue = [
                    "key": .object(BSONDocument(paths.map { ($0, 1) })), "name": .string(paths[0]), "unique": true,
                    "partialFilterExpression": .object(filter),
                ]
                _ = try await backfill.database.run(["createIndexes": "U", "indexes": .array(of: [index])])
            }
        }
    }

    @Test func aReportNamesTheGroupsWithTheirSizes() async throws {
        let documents: [BSONDocument] = (0..<9).map { ["_id": .integer($0), "email": .string("\($0 % 4)")] }
        try await Self.with(documents, Self.schema("email String @unique")) { backfill in
            let group = try #require(try await Self.check(backfill).group("unique-duplicate"))
            #expect(group["documents"] == 9)
            let keys = try #require(group["equal_values"]?.document)
            #expect(keys["values"] == 4)
            let largest = keys["largest"]?.document?.values.compactMap(\.document) ?? []
            #expect(largest.map { $0["documents"] } == [3, 2, 2, 2])
            #expect(largest.first?["sample_ids"]?.document?.values == [0, 4, 8])
            #expect(largest.first?["value"] == .null)
            let shown = try #require(
                try await Self.check(backfill, "s.prisma", ["--show-values"]).group("unique-duplicate"))
            #expect("\(shown["equal_values"] ?? .null)".contains("0"))
        }
    }

    // MARK: plan

    @Test func aPlannedValueIsUniqueAndUndoneExactly() async throws {
        let documents: [BSONDocument] = [
            ["_id": 1, "email": "a"], ["_id": 2, "email": "a"], ["_id": 3, "email": "b"], ["_id": 4, "email": "a"],
        ]
        try await Self.with(documents, Self.schema("email String @unique")) { backfill in
            let arguments = ["--uri", backfill.uri, "SHIPSHAPE_DATABASE=\(backfill.database.name)"]
            let (schema, jobs) = (backfill.folder.appending("s.prisma").string, backfill.folder.appending("jobs"))
            let plan = try await Program.run(["plan", schema, "--out", jobs.string] + arguments)
            let file = try #require(PlanCase.files(in: jobs).first, "\(plan.output)\(plan.errors)")
            let text = try String(contentsOfFile: jobs.appending(file).string, encoding: .utf8)
            // The field is required, so no step may remove the value.
            #expect(text.contains("where: {_id: {\"$in\": [1, 2]}}") && !text.contains("unset"), "\(text)")
            let state = "SHIPSHAPE_STATE_DATABASE=\(backfill.state.name)"
            let run = try await Program.run(
                ["backfill", jobs.appending(file).string, "--yes", "--reviewed", state] + arguments)
            #expect(run.exitCode == 0, "\(run.output)\(run.errors)")
            let written = try await backfill.database.documents("U")
            #expect(written.map { $0["email"] } == ["a-1", "a-2", "b", "a"])
            #expect(try await Self.check(backfill).exitCode == 0)
            let job = try #require(text.firstMatch(of: /job: (\S+)/)?.1)
            let undo = try await Program.run(["undo", String(job), "--yes", state] + arguments)
            #expect(undo.exitCode == 0, "\(undo.output)\(undo.errors)")
            #expect(try await backfill.database.documents("U") == documents)
        }
    }

    // MARK: validators

    @Test func theConfigurationStatesTheIndexesOfAValidator() async throws {
        let documents: [BSONDocument] = [["_id": 1, "a": 1], ["_id": 2, "a": 1.0], ["_id": 3], ["_id": 4]]
        try await Self.with(documents, "") { backfill in
            let name = "\(backfill.database.name).U"
            try backfill.write("v.json", #"{"$jsonSchema": {"bsonType": "object"}}"#)
            for (options, expected) in [("", [1, 2, 3, 4]), (", sparse: true", [1, 2])] as [(String, Set<Int>)] {
                try backfill.write("c.yml", "unique: [{collection: \(name), fields: [a]\(options)}]")
                let configuration = "SHIPSHAPE_CONFIG=\(backfill.folder.appending("c.yml").string)"
                let found = try await Self.check(backfill, "v.json", ["--collection", name, configuration])
                #expect(found.exitCode == 1 && found.all == expected, "\(found.output)")
                let code = try await Self.create(["a"], in: backfill.database, isSparse: !options.isEmpty)
                #expect(code == 11_000)
            }
        }
    }

    @Test(arguments: [false, true]) func anIndexCanStateACollation(_ isSparse: Bool) async throws {
        let texts: [String?] = ["Ä", "a", "b", nil, nil]
        let documents = texts.enumerated().map { id, text in
            BSONDocument([("_id", .integer(id))] + (text.map { [("a", .string($0))] } ?? []))
        }
        try await Self.with(documents, "") { backfill in
            let name = "\(backfill.database.name).U"
            try backfill.write("v.json", #"{"$jsonSchema": {"bsonType": "object"}}"#)
            let index = "collation: {locale: en, strength: 1}, sparse: \(isSparse)"
            try backfill.write("c.yml", "unique: [{collection: \(name), fields: [a], \(index)}]")
            let flags = [
                "--collection", name, "SHIPSHAPE_CONFIG=\(backfill.folder.appending("c.yml").string)", "--show-values",
            ]
            let found = try await Self.check(backfill, "v.json", flags)
            #expect(found.failing["unique-duplicate"] == [0, 1], "\(found.output)")
            #expect(found.failing["unique-null"] == (isSparse ? nil : [3, 4]), "\(found.output)")
            let groups = found.group("unique-duplicate")?["equal_values"]?.document?["largest"]?.document?.values
            #expect(groups?.first?.document?["value"] == "\"Ä\"", "\(found.output)")
            let code = try await Self.create(
                ["a"], in: backfill.database, isSparse: isSparse, collation: ["locale": "en", "strength": 1])
            #expect(code == 11_000)
            // A dump has no server that compares.
            let dump = backfill.folder.appending("U.bson").string
            try Data(documents.flatMap(\.bytes)).write(to: URL(filePath: dump))
            let offline = try await Self.check(backfill, "v.json", flags + ["--source", dump])
            #expect(offline.exitCode == 0 && !offline.output.contains("\"safe\": true"), "\(offline.output)")
            #expect(offline.output.contains("which only a server applies"), "\(offline.output)")
        }
    }

    /// The server cannot sort a symbol by a collation, and creates no such index.
    @Test func aSymbolUnderACollationIsNotJudged() async throws {
        try await Self.with([["_id": 1, "a": .symbol("x")], ["_id": 2, "a": "x"]], "") { backfill in
            let name = "\(backfill.database.name).U"
            try backfill.write("v.json", #"{"$jsonSchema": {"bsonType": "object"}}"#)
            try backfill.write("c.yml", "unique: [{collection: \(name), fields: [a], collation: {locale: en}}]")
            let flags = ["--collection", name, "SHIPSHAPE_CONFIG=\(backfill.folder.appending("c.yml").string)"]
            let found = try await Self.check(backfill, "v.json", flags)
            #expect(found.exitCode == 0 && !found.output.contains("\"safe\": true"), "\(found.output)")
            #expect(found.output.contains("Cannot index type Symbol with a collation"), "\(found.output)")
            #expect(try await Self.create(["a"], in: backfill.database, collation: ["locale": "en"]) != nil)
        }
    }

    /// Many equal keys are read in batches, and the documents that also fail by themselves are counted once.
    @Test func aDocumentThatAlsoFailsByItselfCountsOnce() async throws {
        let count = 3_000
        try await Mongod.shared.withBackfill { backfill in
            try await backfill.database.fill("U", count: count) {
                ["_id": .integer($0), "a": .string($0 % 2 == 0 ? "x" : "X"), "n": $0 % 3 == 0 ? "?" : 1]
            }
            let name = "\(backfill.database.name).U"
            try backfill.write(
                "v.json", #"{"$jsonSchema": {"bsonType": "object", "properties": {"n": {"bsonType": "number"}}}}"#)
            try backfill.write(
                "c.yml",
                "unique: [{collection: \(name), fields: [a], collation: {locale: en, strength: 2}}, "
                    + "{collection: \(name), fields: [n]}]")
            let flags = ["--collection", name, "SHIPSHAPE_CONFIG=\(backfill.folder.appending("c.yml").string)"]
            let found = try await Self.check(backfill, "v.json", flags)
            #expect(found.collection["failing"]?.document?["certain"] == .integer(count), "\(found.output)")
            #expect(found.failing["unique-duplicate"]?.count == count)
            #expect(found.failing["type-mismatch"]?.count == count / 3, "\(found.failing.keys)")
        }
    }

    // MARK: bad input

    /// The server creates no index with these options.
    @Test(arguments: [
        ("partialFilterExpression: {x: {$exists: false}}", "makes no index with {$exists: false} in its filter"),
        ("partialFilterExpression: {x: {$ne: 1}}", "has no type \"$ne\""),
        ("partialFilterExpression: 5", "a collation or a filter is a mapping"),
        ("sparse: true, partialFilterExpression: {x: 1}", "a sparse index has no filter: leave out \"sparse\""),
        ("collation: {locale: en, strenght: 2}", "a collation has no key \"strenght\" (did you mean \"strength\"?)"),
        ("collation: {locale: en, strength: 9}", "\"strength\" is 1, 2, 3, 4 or 5"),
    ]) func anIndexThatNoServerCreatesIsRefused(_ option: String, _ message: String) async throws {
        try await Self.with([["_id": 1, "a": "x"]], "") { backfill in
            let name = "\(backfill.database.name).U"
            try backfill.write("v.json", #"{"$jsonSchema": {"bsonType": "object"}}"#)
            try backfill.write("c.yml", "unique: [{collection: \(name), fields: [a], \(option)}]")
            let run = try await Program.run([
                "check", backfill.folder.appending("v.json").string, "--collection", name, "--uri", backfill.uri,
                "SHIPSHAPE_CONFIG=\(backfill.folder.appending("c.yml").string)",
            ])
            #expect(run.exitCode == 78 && run.errors.contains("c.yml:1:"), "\(run.output)\(run.errors)")
            #expect(run.errors.contains(message), "\(run.errors)")
        }
    }

    @Test func noIndexAcceptsListsAtTwoOfItsPaths() async throws {
        let documents: [BSONDocument] = [["_id": 1, "a": ["x"], "b": ["y"]], ["_id": 2, "a": ["x"], "b": "y"]]
        try await Self.with(documents, Self.schema("a String[]", "b String[]", "@@unique([a, b])")) { backfill in
            let found = try await Self.check(backfill)
            #expect(found.failing["unique-arrays"] == [1], "\(found.output)")
            #expect(try await Self.create(["a", "b"], in: backfill.database) == 171)
        }
    }

    /// The keys of so many documents do not fit into the buffers, so they are in the temporary file.
    @Test func allOfManyEqualValuesAreFound() async throws {
        let count = 60_000
        try await Mongod.shared.withBackfill { backfill in
            try await backfill.database.fill("U", count: count) { ["_id": .integer($0), "a": .integer($0 % 2)] }
            try backfill.write("s.prisma", Self.schema("a Int @unique"))
            let found = try await Self.check(backfill)
            #expect(found.all.count == count)
            #expect(found.group("unique-duplicate")?["documents"] == .integer(count))
            let full = try await Program.run(
                [
                    "check", backfill.folder.appending("s.prisma").string, "--uri", backfill.uri,
                    "SHIPSHAPE_DATABASE=\(backfill.database.name)",
                ], environment: ["TMPDIR": "/nowhere"])
            #expect(full.exitCode == 73, "\(full.output)\(full.errors)")
            #expect(full.errors.contains("TMPDIR"), "\(full.errors)")
        }
    }
}
