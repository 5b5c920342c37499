import BSON
import Foundation
import TestSupport
import Testing

/// Tests that a later phase of a job skips documents that an earlier phase still has to change.
@Suite struct PhaseOrderTests {
    private static let people = 60

    private static func text(_ number: Int) -> String {
        "00112233-4455-6677-8899-" + String(String(number + 1_000_000_000_000).dropFirst())
    }

    /// Runs a test with people whose field `ref` has the text of a UUID.
    ///
    /// The client first converts the field to a UUID, and then the server renames it.
    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: Self.people) {
                ["_id": .integer($0), "ref": .string(Self.text($0))]
            }
            try test.job(
                steps: ["convert: {field: ref, to: uuid}", "rename: {from: ref, to: id}"],
                limits: "{chunk: {documents: 25}}")
            try await body(test)
        }
    }

    private func converted(_ test: BackfillCase) async throws -> Int {
        try await test.database.count("people", ["ref": ["$exists": false], "id": ["$type": "binData"]])
    }

    /// In document 1, the first step copies an array into the field `e`, which the second step combines with another
    /// field.
    ///
    /// The second step cannot combine an array, so it skips document 1. The run still makes the change of the first
    /// step.
    @Test(arguments: [true, false]) func aStepThatAnEarlierStepMakesNeedlessDoesNotHoldTheDocumentBack(
        keepsJournal: Bool
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            let people: [BSONDocument] = [
                ["_id": 1, "a": [1], "d": 7, "e": "x"], ["_id": 2, "a": "y", "d": 8, "e": "x"], ["_id": 3, "d": 9],
            ]
            try await test.database.fill("people", people)
            try test.job(
                steps: ["copy: {from: a, to: e, whenPresent: replace}", "combine: {into: f, template: \"{d} {e}\"}"])
            let run = try await test.backfill("job", flags: keepsJournal ? [] : ["--no-journal"])
            #expect([0, 1].contains(run.exitCode), "\(run.output)\(run.errors)")
            let written = try await test.database.documents("people")
            #expect(written[0] == ["_id": 1, "a": [1], "d": 7, "e": [1]])
            #expect(written[1] == ["_id": 2, "a": "y", "d": 8, "e": "y", "f": "8 y"])
            guard keepsJournal else { return }
            #expect(try await test.undo().exitCode == 0)
            #expect(try await test.database.documents("people") == people)
        }
    }

    @Test func aSkippedValueIsNotRenamedUnconverted() async throws {
        try await withPeople { test in
            try await test.database.run([
                "update": "people", "updates": [["q": ["_id": 7], "u": ["$set": ["_id__baas_transaction": "t"]]]],
            ])
            // The first write has converted 25 documents. Document 7 is not among them, because it was locked. The
            // runner sleeps before the second write, which is the first rename.
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "before-write:2") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                #expect(try await test.database.count("people", ["ref": ["$type": "binData"]]) == 25)
                try await test.database.run([
                    "update": "people",
                    "updates": [["q": ["_id": 7], "u": ["$unset": ["_id__baas_transaction": 1]]]],
                ])
                try await test.database.fill("people", [["_id": -1, "ref": .string(Self.text(999))]])
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await converted(test) == Self.people + 1)
        }
    }

    @Test func skippedDocumentsStayAndAreListed() async throws {
        try await withPeople { test in
            let isRefused: BSONValue = ["$and": [["$eq": ["$_id", 5]], ["$eq": [["$type": "$ref"], "binData"]]]]
            try await test.database.run([
                "collMod": "people", "validator": ["$expr": ["$not": [isRefused]]],
            ])
            let run = try await test.backfill("job", "--output", "json")
            #expect(run.exitCode == 1, "\(run.errors)")
            let kept = try await test.database.documents("people", ["_id": 5])
            #expect(kept == [["_id": 5, "ref": .string(Self.text(5))]])
            #expect(try await converted(test) == Self.people - 1)
            let group = try test.report(run)["failures"]?.document?.values.first?.document
            #expect(group?["code"] == 121)
            #expect(group?["documents"] == 1)
        }
    }

    /// If the client cannot convert the value of a field, the run still renames the field and keeps the value.
    ///
    /// The test has more such documents than the client evaluates at a time.
    @Test func documentsThatTheClientSkipsContinue() async throws {
        try await withPeople { test in
            try await test.database.fill("people", count: 450) { ["_id": .integer(1_000 + $0), "ref": "none"] }
            try test.job(steps: ["convert: {field: ref, to: uuid}", "rename: {from: ref, to: id}"])
            let dry = try test.report(try await test.backfill("job", "--dry-run", "--output", "json", yes: false))
            let run = try await test.backfill("job", "--output", "json")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try test.report(run)["changed"] == dry["changed"])
            #expect(try await converted(test) == Self.people)
            #expect(try await test.database.count("people", ["ref": ["$exists": false], "id": "none"]) == 450)
        }
    }

    @Test func documentsThatArriveDuringTheRunPassAllPhases() async throws {
        try await withPeople { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "before-write:1") { program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                try await test.database.fill("people", [["_id": 500, "ref": .string(Self.text(999))]])
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await converted(test) == Self.people + 1)
        }
    }
}
