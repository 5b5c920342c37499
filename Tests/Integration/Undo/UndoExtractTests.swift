import BSON
import Glibc
import TestSupport
import Testing

/// Tests the undo of `extract`: it removes the child documents that the job made, unless they have changed or documents
/// still link to them.
@Suite(.fencedDeletes) struct UndoExtractTests {
    private static let documents = 30

    private func withHomes(
        _ id: String = "generate: objectId", _ body: (BackfillCase) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("homes", [["_id": "a user's"]])
            try await test.database.fill("people", count: Self.documents) {
                ["_id": .integer($0), "home": ["key": .integer($0 / 2), "city": .integer($0 / 2)], "z": 1]
            }
            try test.job(
                steps: ["extract: {field: home, to: \(test.database.name).homes, \(id)}"],
                limits: "{chunk: {documents: 10}}")
            try await body(test)
        }
    }

    private func created(_ run: ProgramRun, _ test: BackfillCase) throws -> BSONDocument {
        try #require(try test.report(run)["created"]?.document)
    }

    @Test(arguments: [("generate: objectId", 30), ("generate: uuid", 30), ("idFrom: key", 15)])
    func createdDocumentsAreRemoved(_ id: String, _ made: Int) async throws {
        try await withHomes(id) { test in
            let original = try await test.database.documents("people")
            let run = try await test.backfill()
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.errors.contains("removes each document that the job created from them"), "\(run.errors)")
            #expect(try await test.database.count("homes") == made + 1)
            let dry = try await test.undo(flags: ["--dry-run", "--output", "json"], yes: false)
            #expect(try created(dry, test)["removed"]?.integer == made)
            #expect(try await test.database.count("homes") == made + 1)
            let undone = try await test.undo(flags: ["--output", "json"])
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(try created(undone, test)["removed"]?.integer == made)
            #expect(try await test.database.documents("people") == original)
            #expect(try await test.database.documents("homes") == [["_id": "a user's"]])
        }
    }

    @Test func changedOrPossiblyLinkedDocumentsStay() async throws {
        try await withHomes("idFrom: key") { test in
            #expect(try await test.backfill().exitCode == 0)
            try await test.database.set("homes", 3, ["city": .long(3)])
            try await test.database.run(["delete": "homes", "deletes": [["q": ["_id": 4], "limit": 1]]])
            // A user changes the link of parent 10, so undo skips this parent. The new value still links to child 5.
            try await test.database.set("people", 10, ["home": [5, "mine"]])
            let undone = try await test.undo(flags: ["--output", "json"])
            #expect(undone.exitCode == 1, "\(undone.errors)")
            let created = try created(undone, test)
            #expect(created["removed"]?.integer == 12)
            #expect(created["gone"]?.integer == 1)
            let left = created["left_alone"]?.document?.values.compactMap(\.document) ?? []
            let reasons = left.compactMap { $0["reason"]?.text }
            let ids = left.flatMap { $0["ids"]?.document?.values ?? [] }.compactMap(\.integer)
            #expect(reasons.sorted() == ["changed", "linked"])
            #expect(ids.sorted() == [3, 5])
            let homes = try await test.database.documents("homes").map { $0["_id"] }
            #expect(homes == [3, 5, "a user's"])
            #expect(try await test.database.documents("people", ["_id": 10]).first?["home"] == [5, "mine"])
        }
    }

    @Test func aDocumentThatANewDocumentLinksToStays() async throws {
        try await withHomes("idFrom: key") { test in
            #expect(try await test.backfill().exitCode == 0)
            try await test.database.fill("people", [["_id": "new", "home": 7], ["_id": "newer", "home": [[:], 8]]])
            let undone = try await test.undo(flags: ["--output", "json"])
            #expect(undone.exitCode == 1, "\(undone.errors)")
            let created = try created(undone, test)
            #expect(created["removed"]?.integer == 13)
            let homes = try await test.database.documents("homes").map { $0["_id"] }
            #expect(homes == [7, 8, "a user's"])
        }
    }

    /// Undo keeps the linked child documents, although this version of the program cannot read the job's steps.
    ///
    /// This happens, for example, if a later version of the program stored the job.
    @Test func aLinkedDocumentStaysEvenIfTheStoredJobCannotBeRead() async throws {
        try await withHomes("idFrom: key") { test in
            #expect(try await test.backfill().exitCode == 0)
            try await test.state.run([
                "update": "jobs", "updates": [["q": [:], "u": ["$set": ["text": "job: job\nsteps: [{future: 1}]\n"]]]],
            ])
            try await test.database.fill("people", [["_id": "new", "home": 7], ["_id": "newer", "home": [[:], 8]]])
            let undone = try await test.undo(flags: ["--output", "json"])
            #expect(undone.exitCode == 1, "\(undone.errors)")
            #expect(try created(undone, test)["removed"]?.integer == 13)
            let homes = try await test.database.documents("homes").map { $0["_id"] }
            #expect(homes == [7, 8, "a user's"])
        }
    }

    /// A second job links to child documents that the first job made, so the undo of the first job must not remove
    /// them.
    @Test func documentsThatAnotherJobNeedsStayUntilItIsUndone() async throws {
        try await withHomes("idFrom: key") { test in
            try await test.database.fill("pets", [["_id": 1, "home": ["key": 3, "city": 3]]])
            #expect(try await test.backfill().exitCode == 0)
            try test.job(
                "pets", on: "pets", steps: ["extract: {field: home, to: \(test.database.name).homes, idFrom: key}"])
            #expect(try await test.backfill("pets").exitCode == 0)
            let undone = try await test.undo(flags: ["--output", "json"])
            #expect(undone.exitCode == 1, "\(undone.errors)")
            #expect(try created(undone, test)["removed"]?.integer == 0)
            let pets = try await test.database.documents("pets")
            #expect(pets == [["_id": 1, "home": 3]])
            #expect(try await test.database.count("homes") == 16)
        }
    }

    /// After an undo was killed before or after one of its writes, the next undo finishes the work.
    @Test(arguments: [
        "before-write:4:kill", "before-write:5:kill", "after-restore:3", "after-restore:4", "after-restore:5",
    ])
    func anUndoThatDiesIsEndedByTheNext(_ fault: String) async throws {
        try await withHomes { test in
            let original = try await test.database.documents("people")
            #expect(try await test.backfill(fault: "after-creation:2").wasKilled)
            try await test.waitForLeaseEnd()
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await test.undo(fault: fault).wasKilled)
            let next = try await test.undo(flags: ["SHIPSHAPE_LEASE_WAIT=20s", "--output", "json"])
            #expect(next.exitCode == 0, "\(next.errors)")
            #expect(try await test.database.documents("people") == original)
            #expect(try await test.database.documents("homes") == [["_id": "a user's"]])
            let report = try created(next, test)
            let removed = (report["removed"]?.integer ?? 0, report["removed_earlier"]?.integer ?? 0)
            #expect(removed.0 + removed.1 <= 30)
        }
    }

    /// A first undo sleeps before it deletes documents, until its lease has ended.
    ///
    /// A second undo then deletes the documents. When the first undo continues, it deletes nothing.
    @Test func aSleeperRemovesNothing() async throws {
        try await withHomes { test in
            #expect(try await test.backfill().exitCode == 0)
            let made = try await test.database.documents("homes")
            // The first three writes of the undo restore documents of `people`. Its fourth write deletes documents of
            // `homes` that the job inserted.
            let first = try await test.undo(flags: ["SHIPSHAPE_LEASE_TTL=2s"], fault: "before-write:4:stop") {
                program in
                try await waitUntil("the undo sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                let second = try await test.undo(flags: ["SHIPSHAPE_LEASE_WAIT=20s"])
                #expect(second.exitCode == 0, "\(second.errors)")
                #expect(try await test.database.documents("homes") == [["_id": "a user's"]])
                // While the first undo sleeps, a user inserts the same documents as the job. The first undo must not
                // delete them.
                try await test.database.fill("homes", made.filter { $0["_id"] != "a user's" })
            }
            #expect(first.exitCode == 76, "\(first.errors)")
            #expect(try await test.database.documents("homes") == made)
        }
    }
}
