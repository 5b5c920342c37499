import BSON
import Glibc
import TestSupport
import Testing

/// Tests jobs whose collection has a new UUID, for example because it was moved to another shard or deployment.
///
/// Such a job resumes only after the operator has confirmed that the collection is the same one. If the job has a
/// journal, the program also compares the collection's documents with the journal.
@Suite struct RebindTests {
    private func withPeople(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await fill(test)
            try test.job(
                steps: [#"default: {field: email, value: ""}"#, "convert: {field: age, to: int}"],
                limits: "{chunk: {documents: 10}}")
            try await body(test)
        }
    }

    private func fill(_ test: BackfillCase, from first: Int = 0) async throws {
        try await test.database.fill("people", count: 50) { number in
            [
                "_id": .integer(number), "name": .string("n\(first + number)"),
                "at": .double(Double(first + number) / 3),
                "age": .string("\(number)"),
            ]
        }
    }

    /// Returns the number of changes in the journal, which differs from run to run.
    ///
    /// A runner that was asked to stop may still write one more chunk, or only store the chunk's changes in the
    /// journal.
    private func changes(_ test: BackfillCase) async throws -> Int {
        try await test.state.documents("journal").reduce(0) { $0 + ($1["count"]?.integer ?? 0) }
    }

    /// Drops the collection, and creates another one with the same name and `_id`s but other values.
    private func replace(_ test: BackfillCase) async throws {
        try await test.database.run(["drop": "people"])
        try await fill(test, from: 1_000)
    }

    @Test func aJobWhoseCollectionWasMovedContinuesAndIsUndone() async throws {
        try await withPeople { test in
            let before = try await test.database.documents("people")
            #expect(try await test.stoppedHalfway().exitCode == 75)
            let changes = try await changes(test)
            #expect((20..<50).contains(changes))
            // The runner may have stopped after it journaled a chunk and before it wrote that chunk.
            let written = try await test.database.count("people", ["email": "", "age": ["$type": "int"]])
            #expect((20...changes).contains(written))
            try await test.mongod.move("people", of: test.database)
            for refused in [try await test.backfill(), try await test.undo()] {
                #expect(refused.exitCode == 65)
                #expect(refused.errors.contains("shipshape job rebind job"), "\(refused.errors)")
            }
            // Before the operator rebinds the job, a user deletes a document.
            try await test.database.run(["delete": "people", "deletes": [["q": ["_id": 3], "limit": 1]]])
            let asked = try await test.steer("rebind", "job")
            #expect(asked.exitCode == 64)
            #expect(asked.errors.contains("without a terminal, job rebind needs --yes"), "\(asked.errors)")
            #expect(
                asked.errors.contains(
                    "its journal has \(changes) changes: \(changes - 1) to documents that are still there, "
                        + "1 to documents that are gone, 0 to other documents"
                ), "\(asked.errors)")
            #expect(try await test.backfill().exitCode == 65)

            let run = try await test.steer("rebind", test.path(), "--yes")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.log() == ["bound to \(test.database.name).people, which has a new UUID"])
            let again = try await test.steer("rebind", "job", "--yes")
            #expect(again.output == "job job is bound to the current collection already: nothing changed\n")
            #expect(try await test.status()["state"] == "stopped")

            let rest = try await test.backfill("job", "--output", "json")
            #expect(rest.exitCode == 0, "\(rest.errors)")
            #expect(try test.report(rest)["changed"]?.integer == 50 - written)
            #expect(try await test.database.count("people", ["email": "", "age": ["$type": "int"]]) == 49)
            // The collection is moved again, and undo changes the moved collection.
            try await test.mongod.move("people", of: test.database)
            #expect(try await test.steer("rebind", "job", "--yes").exitCode == 0)
            let undo = try await test.undo()
            #expect(undo.exitCode == 0, "\(undo.errors)")
            #expect(try await test.database.documents("people") == before.filter { $0["_id"] != 3 })
        }
    }

    @Test func anotherCollectionIsRefusedWhateverItsIDs() async throws {
        try await withPeople { test in
            #expect(try await test.stoppedHalfway().exitCode == 75)
            let changes = try await changes(test)
            try await replace(test)
            let run = try await test.steer("rebind", "job", "--yes")
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("\(changes) to other documents with the same _id"), "\(run.errors)")
            #expect(run.errors.contains("stays bound to the collection that it was started on"), "\(run.errors)")
            #expect(try await test.backfill().exitCode == 65)
            #expect(try await test.database.count("people", ["email": ["$exists": true]]) == 0)

            try await test.database.run(["delete": "people", "deletes": [["q": [:], "limit": 0]]])
            let empty = try await test.steer("rebind", "job", "--yes")
            #expect(empty.exitCode == 65)
            #expect(empty.errors.contains("\(changes) to documents that are gone"), "\(empty.errors)")
            try await test.database.run(["drop": "people"])
            #expect(try await test.steer("rebind", "job", "--yes").exitCode == 65)
        }
    }

    /// The operator can rebind a job without a journal, although no journaled document can confirm the collection.
    ///
    /// This is safe for undo, because undo restores nothing without a journal.
    @Test func aJobWithoutAJournalGoesByYourWord() async throws {
        try await withPeople { test in
            #expect(try await test.stoppedHalfway(flags: ["--no-journal"]).exitCode == 75)
            try await test.mongod.move("people", of: test.database)
            let run = try await test.steer("rebind", "job", "--yes")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(
                run.errors.contains("no journal to compare with; the document of its last checkpoint is still there"),
                "\(run.errors)")
            #expect(try await test.backfill("job", "--no-journal").exitCode == 0)
        }
    }

    @Test func whileARunnerHoldsTheJobNothingIsBound() async throws {
        try await withPeople { test in
            try await test.backfill(flags: ["SHIPSHAPE_LEASE_TTL=60s"], fault: "after-checkpoint:2:stop") { program in
                try await waitUntil("the program is stopped") { try program.isStopped }
                try await test.mongod.move("people", of: test.database)
                let run = try await test.steer("rebind", "job", "--yes")
                #expect(run.exitCode == 76, "\(run.errors)")
                #expect(run.errors.contains("is held by a runner"), "\(run.errors)")
                program.send(SIGCONT)
            }
            // After SIGCONT, the stopped runner noticed the collection's new UUID, and wrote nothing more.
            #expect(try await test.database.count("people", ["email": ""]) == 20)
            #expect(try await test.steer("rebind", "job", "--yes").exitCode == 0)
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await test.database.count("people", ["email": ""]) == 50)
        }
    }

    @Test func aJobThatWasNeverBegunIsNamed() async throws {
        try await withPeople { test in
            let run = try await test.steer("rebind", "jbo", "--yes")
            #expect(run.exitCode == 65)
            #expect(run.errors.contains("no job \"jbo\" was started"), "\(run.errors)")
        }
    }
}

extension Mongod {
    /// Gives a collection a new UUID as a move does: copies its documents, and gives the copy the collection's name.
    func move(_ collection: String, of database: TestDatabase) async throws {
        try await database.run(["aggregate": .string(collection), "pipeline": [["$out": "moved"]], "cursor": [:]])
        try await admin([
            "renameCollection": .string("\(database.name).moved"), "to": .string("\(database.name).\(collection)"),
            "dropTarget": true,
        ])
    }
}
