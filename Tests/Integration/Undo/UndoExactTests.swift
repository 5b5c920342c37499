import BSON
import Glibc
import TestSupport
import Testing

/// Undo compares and restores values exactly: bytes that are not UTF-8, texts under a collation, and large documents.
@Suite struct UndoExactTests {
    /// Returns a document with a text and a field name that are not UTF-8.
    private static func odd(_ id: Int32) throws -> BSONDocument {
        let good: BSONDocument = ["_id": .int(id), "a": 1, "text": "??", "n?": 1, "z": 3]
        var bytes = good.bytes
        for index in bytes.indices where bytes[index] == UInt8(ascii: "?") { bytes[index] = 0xFF }
        return try BSONDocument(bytes: bytes)
    }

    private func undo(_ test: BackfillCase, exitCode: Int32 = 0) async throws -> BSONDocument {
        let run = try await test.backfill()
        #expect(run.exitCode == 0, "\(run.errors)")
        let undone = try await test.undo(flags: ["--output", "json"])
        #expect(undone.exitCode == exitCode, "\(undone.errors)")
        return try test.report(undone)
    }

    @Test(arguments: ["unset: {field: a}", "unset: {field: text}", "wrap: {field: text}"])
    func bytesThatAreNotUTF8AreRestored(_ step: String) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", try (0..<3).map(Self.odd))
            let original = try await test.database.documents("people")
            try test.job(steps: [step])
            #expect(try await undo(test)["restored"]?.integer == 3)
            #expect(try await test.database.documents("people") == original)
        }
    }

    private func withCollation(_ body: (BackfillCase) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.run([
                "create": "people", "collation": ["locale": "en", "strength": 1, "caseLevel": false],
            ])
            try await body(test)
        }
    }

    /// Undo restores a field at its place, although the collation takes the field names `Name`, `name` and `NAME` as
    /// equal.
    @Test func aFieldGoesBackToItsPlaceWhateverTheCollation() async throws {
        try await withCollation { test in
            try await test.database.fill(
                "people",
                [
                    ["_id": "one", "Name": 1, "x": 0, "name": 2, "y": 0, "NAME": 3],
                    ["_id": 2, "NAME": 3, "Name": 1, "name": 2],
                ])
            let original = try await test.database.documents("people")
            try test.job(steps: ["unset: {field: name}"])
            #expect(try await undo(test)["restored"]?.integer == 2)
            #expect(try await test.database.documents("people") == original)
        }
    }

    /// Undo restores a text as the user last wrote it, although the collation takes it as equal to the journaled text.
    ///
    /// The user changes only the case of a text inside the field, after the job has journaled the field and before the
    /// job removes it.
    @Test(arguments: [3, "three"] as [BSONValue])
    func capitalsAreAChangeWhateverTheCollation(_ id: BSONValue) async throws {
        try await withCollation { test in
            let before: BSONDocument = ["b": ["c": [["d": "text"]]]]
            try await test.database.fill("people", [["_id": id, "a": .object(before), "z": 1]])
            try test.job(steps: ["unset: {field: a}"])
            let mine: BSONValue = ["b": ["c": [["d": "TEXT"]]]]
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", fault: "after-journal:1:stop") {
                program in
                try await waitUntil("the runner sleeps") { try program.isStopped }
                defer { program.send(SIGCONT) }
                try await test.database.set("people", id, ["a": mine])
            }
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await test.undo().exitCode == 0)
            #expect(try await test.database.documents("people") == [["_id": id, "a": mine, "z": 1]])
        }
    }

    /// Undo restores each value, also those that a command could not compare.
    ///
    /// Two of the four documents have 9 MB. Some of their fields move to the end of the document when undo restores
    /// them.
    @Test(
        arguments: [
            #"default: {field: email, value: ""}"#, "unset: {field: big}", "unset: {field: a}", "wrap: {field: big}",
        ])
    func aLargeDocumentStopsNothing(_ step: String) async throws {
        try await Mongod.shared.withBackfill { test in
            let large = String(repeating: "x", count: 9_000_000)
            try await test.database.fill("people", count: 4) {
                ["_id": .integer($0), "a": 1, "big": .string($0 == 1 || $0 == 2 ? large : "small"), "z": 1]
            }
            let original = try await test.database.documents("people")
            try test.job(steps: [step])
            let report = try await undo(test, exitCode: 0)
            #expect(report["restored"]?.integer == 4)
            let after = try await test.database.documents("people")
            for (now, was) in zip(after, original) {
                let isLarge = was["_id"] == 1 || was["_id"] == 2
                #expect(isLarge && step == "unset: {field: a}" ? try now.hasFields(of: was) : now == was)
            }
        }
    }

    /// A journal entry of such a document does not fit into one document of the state database.
    @Test(
        arguments: [
            #"default: {field: email, value: ""}"#, "unset: {field: big}", "unset: {field: a}", "wrap: {field: a}",
        ])
    func documentsAlmostAsLargeAsTheServerAllowsAreUndone(_ step: String) async throws {
        try await Mongod.shared.withBackfill { test in
            let large = BSONValue.string(String(repeating: "x", count: (16 << 20) - 100_000))
            try await test.database.fill("people", count: 2) {
                ["_id": .integer($0), "big": $0 == 1 ? large : "small", "a": 1]
            }
            let original = try await test.database.documents("people")
            try test.job(steps: [step])
            #expect(try await undo(test)["restored"]?.integer == 2)
            #expect(try await test.database.documents("people") == original)
        }
    }

    /// A clustered collection keeps its documents in the order of their `_id`s, and a run of it is killed.
    @Test(.server(from: 5, 3, for: "clustered collections")) func aClusteredCollectionIsUndone() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.run(["create": "people", "clusteredIndex": ["key": ["_id": 1], "unique": true]])
            try await test.database.fill(
                "people",
                try (0..<300).map {
                    let id: BSONValue = $0.isMultiple(of: 2) ? .integer($0) : .string("\($0)")
                    return try KillDocuments.document($0).replacing("_id", with: id)
                })
            let original = try await test.database.documents("people")
            try test.job(steps: KillDocuments.steps, limits: "{chunk: {documents: 40}}")
            let killed = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=4s", fault: "after-journal:3:kill")
            #expect(killed.wasKilled, "\(killed.status): \(killed.errors)")
            let run = try await test.backfill("job", "SHIPSHAPE_LEASE_TTL=60s", "SHIPSHAPE_LEASE_WAIT=60s")
            #expect(run.exitCode == 0, "\(run.errors)")
            let changed = zip(original, try await test.database.documents("people")).count { $0 != $1 }
            let undone = try await test.undo(flags: ["--output", "json"])
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(try test.report(undone)["restored"]?.integer == changed)
            #expect(try await test.database.documents("people") == original)
        }
    }

    /// The unsync budget, the journal and undo read all documents, two of which have 9 MB.
    @Test func largeDocumentsAreJudgedAndUndone() async throws {
        try await BudgetCase.withTasks { test in
            let large = BSONValue.string(String(repeating: "x", count: 9_000_000))
            for id in [3, 150] { try await test.database.set("tasks", .integer(id), ["big": large]) }
            let original = try await test.database.documents("tasks")
            let flags = ["SHIPSHAPE_LEDGER=none", "--allow-unsync", "200"]
            try test.job(
                on: "tasks", steps: ["convert: {field: priority, to: int}"],
                limits: "{chunk: {documents: 30}, unsynced: 1000}",
                more: "schema: {active: active.json, next: next.json}")
            let run = try await test.backfill(flags: flags + ["--output", "json"])
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try test.report(run)["harm"]?.integer == 200)
            #expect(try await BudgetCase.unsyncable(test).count == 200)
            let undone = try await test.undo(flags: flags)
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(try await test.database.documents("tasks") == original)
        }
    }

    /// If undo makes documents syncable again, their reservations stay until the ledger has dropped the documents.
    @Test func repairedDocumentsKeepTheirRoomWhileTheLedgerLags() async throws {
        try await BudgetCase.withTasks { test in
            try await test.database.run(["delete": "tasks", "deletes": [["q": ["_id": ["$gte": 60]], "limit": 0]]])
            try test.job(
                on: "tasks", steps: ["convert: {field: priority, to: int}"],
                limits: "{chunk: {documents: 30}, unsynced: \(BudgetCase.ceiling), reserve: 0, ledgerLag: 3s}",
                more: "schema: {active: active.json, next: next.json}")
            #expect(try await BudgetCase.run(test).exitCode == 0)
            #expect(try await BudgetCase.recorded(test, ["seen": false]).count == 60)
            let ledger = ["SHIPSHAPE_LEDGER=\(test.database.name).ledger"]
            let killed = try await test.undo(flags: ledger, fault: "after-checkpoint:2")
            #expect(killed.wasKilled)
            #expect(try await BudgetCase.unsyncable(test).count < 60)
            #expect(try await BudgetCase.recorded(test, ["seen": false]).count == 60)
            #expect(try await !BudgetCase.recorded(test, ["repaired": ["$type": "date"]]).isEmpty)
            let undone = try await test.undo(flags: ledger + ["SHIPSHAPE_LEASE_WAIT=20s"])
            #expect(undone.exitCode == 0, "\(undone.errors)")
            #expect(undone.errors.contains("until the ledger has dropped"), "\(undone.errors)")
            #expect(try await BudgetCase.recorded(test).isEmpty)
            #expect(try await BudgetCase.unsyncable(test).isEmpty)
        }
    }
}

extension BSONDocument {
    /// Whether both documents have the same fields, in any order.
    fileprivate func hasFields(of other: BSONDocument) throws -> Bool {
        let names = try elements().map(\.name)
        return try names.sorted() == other.elements().map(\.name).sorted() && names.allSatisfy { self[$0] == other[$0] }
    }
}
