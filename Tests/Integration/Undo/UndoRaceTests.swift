import BSON
import Glibc
import TestSupport
import Testing

/// Tests undo after conflicting writes of users.
///
/// A user writes a document between the moment at which a job or an undo reads the document and the moment at which it
/// writes the document.
@Suite struct UndoRaceTests {
    private static func document(_ id: Int) -> BSONDocument {
        [
            "_id": .integer(id), "a": "x", "b": "y", "nick": .string("n\(id)"), "age": .string("\(id)"),
            "born": .integer(id),
        ]
    }

    private func withPeople(_ step: String, _ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 10, Self.document)
            try test.job(steps: [step])
            try await body(test)
        }
    }

    /// Undo does not change a document that a user has put in place of a document of the job.
    ///
    /// The user replaces the document after the undo has read it and before the undo writes it.
    @Test(arguments: [true, false]) func aDocumentThatIsReplacedUnderTheUndoStaysAsItIs(deletes: Bool) async throws {
        let other: BSONDocument = ["_id": 3, "a": "another", "b": "another", "age": "77", "born": 2001]
        try await withPeople("unset: {field: nick}") { test in
            #expect(try await test.backfill().exitCode == 0)
            let flags = ["--output", "json", "SHIPSHAPE_LEASE_TTL=60s"]
            let undone = try await test.undo(flags: flags, fault: "before-write:1:stop") { program in
                try await waitUntil("the undo sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                if deletes {
                    try await test.database.run(["delete": "people", "deletes": [["q": ["_id": 3], "limit": 1]]])
                    try await test.database.fill("people", [other])
                } else {
                    try await test.database.run([
                        "update": "people", "updates": [["q": ["_id": 3], "u": .object(other)]],
                    ])
                }
            }
            #expect(undone.exitCode == 1, "\(undone.errors)")
            #expect(try test.report(undone).left("replaced") == [3])
            #expect(try await test.database.documents("people", ["_id": 3]) == [other])
            #expect(try await test.database.count("people", ["nick": ["$exists": true]]) == 9)
        }
    }

    /// The journal has what the job wrote, even if a user changes a source field while the job writes the document.
    @Test func aSourceThatChangesDuringTheChunkIsJournaledAsWritten() async throws {
        try await withPeople("copy: {from: age, to: nick, whenPresent: replace}") { test in
            let original = try await test.database.documents("people")
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "after-journal:1:stop") {
                program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                try await test.database.set("people", 3, ["age": "second"])
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.database.count("people", ["nick": "second"]) == 1)
            try await test.database.set("people", 3, ["age": "third"])
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await test.database.count("people", ["nick": "third"]) == 1)
            let undone = try await test.undo()
            #expect(undone.exitCode == 0, "\(undone.errors)")
            try await test.database.set("people", 3, ["age": original[3]["age"] ?? .null])
            #expect(try await test.database.documents("people") == original)
        }
    }

    /// A user who makes the job's change by hand, before the job comes to the document, keeps it; a user who reverts
    /// the job's change keeps that.
    @Test func aUsersOwnChangesStayAndAllOthersAreRestored() async throws {
        try await withPeople("unset: {field: nick}") { test in
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "before-write:1:stop") {
                program in
                try await waitUntil("the runner sleeps before the write") { try program.isStopped }
                defer { program.send(SIGCONT) }
                try await test.database.run([
                    "update": "people", "updates": [["q": ["_id": 3], "u": ["$unset": ["nick": ""]]]],
                ])
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            try await test.database.set("people", 5, ["nick": "mine"])
            let undone = try await test.undo(flags: ["--output", "json"])
            #expect(undone.exitCode == 1, "\(undone.errors)")
            #expect(try test.report(undone).left("changed") == [5])
            #expect(try await test.database.count("people", ["_id": 3, "nick": ["$exists": true]]) == 0)
            #expect(try await test.database.documents("people", ["_id": 5]).first?["nick"] == "mine")
            #expect(try await test.database.count("people", ["nick": ["$exists": true]]) == 9)
        }
    }
}
