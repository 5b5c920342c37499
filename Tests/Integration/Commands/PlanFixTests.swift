import BSON
import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// Tests that the jobs of `plan SCHEMA` repair the documents that fail, and that the plan's remarks name all other
/// failures.
@Suite struct PlanFixTests {
    /// A collection `T`, its schema, and the folder for the planned jobs.
    private struct Subject {
        let backfill: BackfillCase
        let schema: String

        var namespace: String { "\(backfill.database.name).T" }
        var jobs: FilePath { backfill.folder.appending("jobs") }
        var here: [String] { ["--collection", namespace, "--uri", backfill.uri] }

        func plan(_ flags: String...) async throws -> ProgramRun {
            try await Program.run(
                ["plan", schema] + here + ["--out", jobs.string, "--strict"] + flags)
        }

        /// Runs all planned jobs, except for drafts.
        func runJobs() async throws {
            for file in PlanCase.files(in: jobs) {
                let path = jobs.appending(file).string
                let text = try String(contentsOfFile: path, encoding: .utf8)
                guard text.contains("\nsteps:\n") else { continue }
                let run = try await Program.run(
                    [
                        "backfill", path, "--yes", "--reviewed", "--uri", backfill.uri, "SHIPSHAPE_LEDGER=none",
                        "SHIPSHAPE_STATE_DATABASE=\(backfill.state.name)", "SHIPSHAPE_LEASE_TTL=20s",
                    ])
                #expect(run.exitCode == 0 || run.exitCode == 1, "\(run.output)\(run.errors)")
            }
        }

        /// Returns how many documents have each finding of a check, by rule, path and found type.
        func findings() async throws -> [String: Int] {
            let run = try await Program.run(
                ["check", schema] + here + ["SHIPSHAPE_LEDGER=none", "--strict", "--output", "json"])
            let report = try #require(try BSONValue(extendedJSON: run.output).document)
            let collections = report["collections"]?.document?.values.compactMap(\.document) ?? []
            return PlanFixTests.counts(collections.flatMap { PlanFixTests.members("groups", of: $0) })
        }
    }

    private static func members(_ key: String, of document: BSONDocument) -> [BSONDocument] {
        document[key]?.document?.values.compactMap(\.document) ?? []
    }

    /// Returns how many documents have each finding of the level "certain" or "possible", by rule, path and found type.
    private static func counts(_ findings: [BSONDocument]) -> [String: Int] {
        let failing = findings.filter { ["certain", "possible"].contains($0["level"]?.text) }
        return Dictionary(
            failing.map { finding in
                let words = ["rule", "path", "found"].map { finding[$0]?.text ?? "" }
                return (words.joined(separator: " "), finding["documents"]?.integer ?? 0)
            }, uniquingKeysWith: +)
    }

    /// Returns how many documents have each finding that the jobs of a plan do not fix, according to the plan's JSON.
    ///
    /// The plan leaves such a finding to the operator, or a step of the plan skips the values that cause it.
    private static func left(by plan: BSONDocument) -> [String: Int] {
        let entries = members("jobs", of: plan).flatMap { members("entries", of: $0) } + members("remarks", of: plan)
        var left = counts(entries.filter { $0["role"] == "manual" }.flatMap { members("findings", of: $0) })
        for entry in entries where entry["role"] == "step" {
            // A missing field fits the schema if its parent object is missing as well, so it is not a finding.
            let reasons = members("left_alone", of: entry).filter { $0["reason"] != "parent is missing" }
            let skipped = reasons.reduce(0) { $0 + ($1["count"]?.integer ?? 0) }
            let findings = counts(members("findings", of: entry))
            if skipped > 0, let only = findings.keys.first { left[only] = skipped }
        }
        return left
    }

    private func with(
        _ schema: String, isValidator: Bool = false, _ documents: [BSONDocument],
        _ body: (Subject) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { backfill in
            try backfill.write("schema.json", isValidator ? #"{"$jsonSchema": \#(schema)}"# : schema)
            try await backfill.database.fill("T", documents)
            try await body(Subject(backfill: backfill, schema: backfill.folder.appending("schema.json").string))
        }
    }

    private func expectThatTheRemarksNameTheRest(_ subject: Subject) async throws {
        let before = try await subject.findings()
        let run = try await subject.plan("--output", "json")
        #expect([0, 1].contains(run.exitCode), "\(run.errors)")
        let plan = try #require(try BSONValue(extendedJSON: run.output).document)
        let expected = Self.left(by: plan)
        #expect(expected.count < before.count, "some findings get a step")
        try await subject.runJobs()
        #expect(try await subject.findings() == expected)
        #expect(try await subject.backfill.database.count("T", [:]) > 0)
    }

    // MARK: The schema, and a document for each rule

    private static let text = #"{"bsonType":"string"}"#
    private static let int = #"{"bsonType":"int"}"#
    private static let texts = #"{"bsonType":"array","items":\#(text)}"#
    private static let home =
        #"{"title":"Home","bsonType":"object","required":["city"],"properties":{"city":\#(text)}}"#
    private static let scores = #"{"bsonType":"object","additionalProperties":\#(text)}"#

    /// The properties of the schema.
    ///
    /// Each field can break only one rule. Otherwise, a step that repairs one failure might skip a document because of
    /// another failure of the same field.
    private static let properties = """
        "_id": \(int), "name": \(text), "state": {"bsonType":"string","enum":["Open","Done"]},
        "age": \(int), "level": \(int), "size": \(int), "rank": \(int), "count": \(int), "price": {"bsonType":"double"},
        "amount": {"bsonType":"int","minimum":0}, "home": \(home), "flat": \(home), "house": \(home), "barn": \(home),
        "rooms": {"bsonType":"array","items":{"title":"Room","bsonType":"object","required":["label"],
          "properties":{"label":\(text)}}},
        "closed": {"title":"Closed","bsonType":"object","additionalProperties":false,"properties":{"a":\(text)}},
        "tags": \(texts), "marks": \(texts), "lists": \(texts), "gaps": \(texts),
        "title": {"bsonType":"string","maxLength":3}, "kinds": {"bsonType":"array","uniqueItems":true,"items":\(text)}
        """
    private static let appProperties = """
        \(properties), "scores": \(scores), "points": \(scores), "keys": \(scores), "any": {"bsonType":"mixed"},
        "blob": {"bsonType":"binData"}, "token": {"bsonType":"uuid"}, "note": \(text),
        "place": {"title":"Place","bsonType":"object","properties":{"type":\(text),
          "coordinates":{"bsonType":"array","items":{"bsonType":"double"}}}}
        """

    private static func schema(_ properties: String) -> String {
        #"{"title":"T","bsonType":"object","required":["_id","name","state"],"properties":{\#(properties)}}"#
    }

    private static func documents(_ parts: [BSONDocument]) -> [BSONDocument] {
        let base: BSONDocument = ["_id": 0, "name": "n", "state": "Open"]
        return [base]
            + parts.enumerated().map { index, part in
                let fields = [("_id", BSONValue.int(Int32(index + 1))), ("name", "n"), ("state", "Open")]
                let kept = fields.filter { part[$0.0] == nil }
                return BSONDocument(kept + ((try? part.elements().map { ($0.name, $0.value) }) ?? []))
            }
    }

    private static let common: [BSONDocument] = [
        ["name": nil], ["state": "Lost"], ["age": "7"], ["age": true], ["level": "old"], ["size": ["a": 1]],
        ["rank": [5]], ["count": 3.5], ["amount": -1], ["home": [:]], ["flat": ["city": 5]], ["house": "Elm St 5"],
        ["rooms": [[:]]], ["rooms": [["label": 1]]], ["closed": ["town": "x"]], ["tags": "a"], ["marks": [1]],
        ["lists": [["x"]]], ["gaps": ["a", nil]], ["title": "long"], ["kinds": ["a", "a"]],
    ]

    private static let withoutFields: [BSONDocument] = [["_id": 101, "state": "Open"], ["_id": 102, "name": "n"]]

    @Test func whatIsPlannedForIsRepairedAndTheRemarksNameTheRest() async throws {
        let own: [BSONDocument] = [
            ["price": 3], ["barn": ["city": nil]], ["scores": ["a": 1]], ["points": ["a": nil]], ["keys": ["": "x"]],
            ["any": .regex(pattern: "a", options: "")], ["blob": .binary(subtype: 5, bytes: [1])],
            ["token": .binary(subtype: 0, bytes: [UInt8](repeating: 7, count: 16))], ["note": .undefined],
            ["place": ["type": "Point", "coordinates": [200.0, 0.0]]],
        ]
        try await with(
            Self.schema(Self.appProperties), Self.documents(Self.common + own) + Self.withoutFields,
            expectThatTheRemarksNameTheRest)
    }

    @Test func theSameHoldsForAValidator() async throws {
        let own: [BSONDocument] = [["age": nil], ["barn": ["city": nil]], ["closed": nil]]
        try await with(
            Self.schema(Self.properties), isValidator: true, Self.documents(Self.common + own) + Self.withoutFields,
            expectThatTheRemarksNameTheRest)
    }

    @Test func noStepIsPlannedForValuesOfWhichNoneConverts() async throws {
        try await with(Self.schema(Self.properties), Self.documents([["age": "old"], ["age": "3.5"]])) { subject in
            let run = try await subject.plan()
            #expect(run.output.contains("2 documents fail now"), "\(run.output)")
            #expect(run.output.contains("the step \"convert\" can change none of these values"))
            #expect(run.output.contains("rounded in 1 document"))
            #expect(run.output.contains("not a number, date or id in 1 document"))
            #expect(run.output.contains("suggested: convert: {field: age, to: int, onLoss: allow}"))
            let text = try #require(try PlanCase.texts(below: subject.jobs).values.first)
            #expect(text.contains(#"db.getCollection("T").find({"#), "the filter finds the documents")
            #expect(!run.output.contains("db.getCollection"), "a filter is not for a terminal")
            #expect(!text.contains("\nsteps:\n"), "the file is a draft")
        }
    }

    @Test func partOfAGroupThatDoesNotConvertIsCounted() async throws {
        try await with(Self.schema(Self.properties), Self.documents([["age": "7"], ["age": "old"]])) { subject in
            let run = try await Program.run(
                ["plan", subject.schema] + subject.here + ["--out", subject.jobs.string])
            #expect(run.exitCode == 1, "a step cannot change a document")
            #expect(run.output.contains("convert: {field: age, to: int} (1 document)"), "\(run.output)")
            #expect(run.output.contains("skipped: 1 document, not a number, date or id"))
            let file = "\(subject.namespace)+fix.yml"
            let path = subject.jobs.appending(file).string
            #expect(PlanCase.files(in: subject.jobs) == [file])
            let next = """

                Next:
                  shipshape backfill --dry-run \(path)
                  shipshape backfill \(path)
                  shipshape check \(subject.schema) --collection \(subject.namespace)

                """
            #expect(run.output.hasSuffix(next), "\(run.output)")
        }
    }

    @Test func aJobOfRepairsNamesTheSchemaAsActiveAndNext() async throws {
        try await with(Self.schema(Self.properties), Self.documents([["age": "7"]])) { subject in
            #expect(try await subject.plan().exitCode == 0)
            let text = try #require(try PlanCase.texts(below: subject.jobs).values.first)
            #expect(
                text.contains(/schema: {active: (schemas\/[0-9a-f]{16}\/schema.json), next: \1}/), "\(text)")
            #expect(text.contains("# type-mismatch: age, 1 document, expected int, found string\n"))
            #expect(text.contains("Run this job at any time"))
        }
    }

    @Test func nothingToFixIsNoFinding() async throws {
        try await with(Self.schema(Self.properties), Self.documents([])) { subject in
            let run = try await Program.run(
                ["plan", subject.schema] + subject.here + ["--out", subject.jobs.string])
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output == "Nothing to fix.\n")
            #expect(PlanCase.files(in: subject.jobs).isEmpty)
        }
    }

    @Test func liveIsASchemaLikeAnyOther() async throws {
        try await with(Self.schema(Self.properties), Self.documents([["age": "7"]])) { subject in
            let validator = try BSONDocument(
                extendedJSON: #"{"$jsonSchema": {"properties": {"age": {"bsonType": "int"}}}}"#)
            try await subject.backfill.database.run([
                "collMod": "T", "validator": .object(validator), "validationAction": "warn",
            ])
            let live = Subject(backfill: subject.backfill, schema: "live")
            #expect(try await live.plan().exitCode == 0)
            try await live.runJobs()
            #expect(try await live.findings().isEmpty)
        }
    }

    @Test func jobsForAChangeStayAndJobsOfAnEarlierRepairGoWithForce() async throws {
        try await with(Self.schema(Self.properties), Self.documents([["age": "7"]])) { subject in
            #expect(try await subject.plan().exitCode == 0)
            let change = "# Planned by comparing a with it.\n"
            let file = subject.jobs.appending("\(subject.namespace).yml").string
            try change.write(toFile: file, atomically: true, encoding: .utf8)
            try await subject.runJobs()
            #expect(try await subject.plan().exitCode == 73, "the job of the earlier plan is not needed any more")
            #expect(try await subject.plan("--force").exitCode == 0)
            #expect(PlanCase.files(in: subject.jobs) == ["\(subject.namespace).yml"])
        }
    }

    @Test func acceptedFindingsGetNoStep() async throws {
        try await with(Self.schema(Self.properties), Self.documents([["age": "7"]])) { subject in
            try subject.backfill.write(
                "exceptions.yml",
                "- {collection: \(subject.namespace), path: age, rule: type-mismatch, reason: known, owner: me}\n")
            let file = subject.backfill.folder.appending("exceptions.yml").string
            let run = try await subject.plan("SHIPSHAPE_EXCEPTIONS=\(file)")
            #expect(run.exitCode == 0)
            #expect(run.output.hasPrefix("Nothing to fix.\n"), "\(run.output)")
            #expect(run.output.contains("findings that the file of exceptions accepts, without a step: 1"))
        }
    }

    // MARK: The command that a check proposes, and bad input

    @Test func aCheckWithFindingsEndsWithTheCommandThatPlansTheirRepair() async throws {
        try await with(Self.schema(Self.properties), Self.documents([["age": "7"]])) { subject in
            func next(_ flags: String...) async throws -> String? {
                let run = try await Program.run(
                    ["check", subject.schema, "--collection", subject.namespace, "SHIPSHAPE_LEDGER=none"] + flags,
                    environment: ["SHIPSHAPE_URI": subject.backfill.uri])
                return run.output.split(separator: "\n").last.map(String.init)
            }
            let command = "Next: shipshape plan \(subject.schema) --collection \(subject.namespace)"
            #expect(try await next() == "\(command) --out jobs")
            let strict = command.replacing("plan", with: "plan --strict")
            #expect(try await next("--strict") == "\(strict) --out jobs")
            #expect(try await next("--active", subject.schema) == "\(command) --out jobs")
            #expect(try await next("--quiet")?.hasPrefix("Next") == false)
            #expect(try await next("--where", "{}")?.hasPrefix("Next") == false, "not every document was read")
            #expect(try await subject.plan().exitCode == 0)
            try await subject.runJobs()
            #expect(try await next()?.hasPrefix("Next") == false, "every document fits")
        }
    }

    /// The check proposes a new folder for each plan, because `plan` does not overwrite the jobs of an earlier plan.
    @Test func theProposedFolderHasNoJobsOfAnEarlierPlan() async throws {
        try await with(Self.schema(Self.properties), Self.documents([["age": "7"]])) { subject in
            let folder = subject.backfill.folder
            func next() async throws -> String? {
                try await Program.run(
                    ["check", subject.schema] + subject.here + ["SHIPSHAPE_LEDGER=none"], in: folder
                ).output.split(separator: "\n").last.map(String.init)
            }
            let first = try await next()
            #expect(first?.hasSuffix(" --out jobs") == true)
            #expect(try await subject.plan().exitCode == 0)
            #expect(try await next()?.hasSuffix(" --out jobs-2") == true)
        }
    }

    @Test(
        arguments: [
            (["b.json", "c.json"], "plan takes one schema, or OLD and NEW: leave out c.json"),
            (["b.json", "--strict"], "--strict repairs what might fail now: it takes one schema, not two"),
            (["--combine", "T.a,b=c"], "--combine is for a change: name OLD and NEW, two schemas"),
        ])
    func wrongUseEndsWith64(_ words: [String], _ message: String) async throws {
        let run = try await Program.run(["plan", "schema.json", "--uri", "mongodb://127.0.0.1:9/"] + words)
        #expect(run.exitCode == 64)
        #expect(run.errors.contains(message), "\(run.errors)")
    }

    @Test func withoutADeploymentThereIsNothingToRead() async throws {
        let run = try await Program.run(["plan", "live"], environment: ["SHIPSHAPE_URI": ""])
        #expect(run.exitCode == 64)
        #expect(run.errors.contains("no deployment is named: give --uri, set SHIPSHAPE_URI"), "\(run.errors)")
    }
}
