import BSON
import Glibc
import TestSupport
import Testing

/// A client changes single documents of a chunk, or the server refuses them, while a job or its undo runs.
///
/// Undo then restores every document that no client has changed, and the reports have exact counts.
@Suite struct UndoBesideClientsTests {
    private static func document(_ id: Int) -> BSONDocument {
        [
            "_id": .integer(id), "age": .integer(id), "nick": .string("n\(id)"), "name": .string("Ada \(id)"),
            "city": .string("Oslo \(id)"), "born": .integer(1900 + id), "visits": 0,
        ]
    }

    private func withPeople(
        _ count: Int, _ step: String, limits: String = "{chunk: {documents: 100}}",
        _ document: (Int) -> BSONDocument = Self.document, _ body: (BackfillCase) async throws -> Void
    ) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: count, document)
            try test.job(steps: [step], limits: limits)
            try await body(test)
        }
    }

    /// Runs the job, and expects the exact number of changed documents in its report.
    private func run(
        _ test: BackfillCase, changes count: Int, exitCode: Int32 = 0, fault: String? = nil,
        during: (LiveProgram) async throws -> Void = { _ in }
    ) async throws {
        let flags = ["--output", "json", "SHIPSHAPE_LEASE_TTL=60s"]
        let run = try await test.backfill(flags: flags, fault: fault, during: during)
        #expect(run.exitCode == exitCode, "\(run.status): \(run.errors)")
        let report = try test.report(run)
        #expect(report["changed"]?.integer == count)
        #expect(report["changed_is_lower_bound"] != true)
    }

    /// Undoes the job, and expects that every change of the job is undone.
    private func undo(
        _ test: BackfillCase, restores count: Int, fault: String? = nil,
        during: (LiveProgram) async throws -> Void = { _ in }
    ) async throws {
        let flags = ["--output", "json", "SHIPSHAPE_LEASE_TTL=60s"]
        let run = try await test.undo(flags: flags, fault: fault, during: during)
        #expect(run.exitCode == 0, "\(run.status): \(run.errors)")
        let report = try test.report(run)
        #expect(report["restored"]?.integer == count)
        #expect(report["changes"]?.integer == count)
        #expect(report["left_alone"]?.document?.values == [])
    }

    /// Expects these documents, and names the first that differs.
    private func expectEqual(
        _ found: [BSONDocument], _ expected: [BSONDocument], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(found.count == expected.count, sourceLocation: sourceLocation)
        let wrong = zip(found, expected).filter { $0 != $1 }
        let first = wrong.first.map { "\($0.json) instead of \($1.json)" } ?? ""
        #expect(wrong.isEmpty, "\(wrong.count) documents, such as \(first)", sourceLocation: sourceLocation)
    }

    // MARK: Clients that write during the run

    /// A client makes the job's change itself in nine documents that the job has read and not yet written.
    ///
    /// At the same time, another client counts visits in random documents. Undo restores all documents but the nine.
    @Test(
        arguments: [
            ("default: {field: s, value: 0}", ["s": ["$exists": false]], ["$set": ["s": 9]]),
            ("unset: {field: nick}", ["nick": ["$exists": true]], ["$unset": ["nick": ""]]),
        ] as [(String, BSONDocument, BSONValue)])
    func documentsThatAClientChangesFirstHinderNoOther(
        _ step: String, _ isOpen: BSONDocument, _ change: BSONValue
    ) async throws {
        let count = 1_000
        try await withPeople(count, step) { test in
            let database = test.database
            var taken: [BSONValue] = []
            let fault = [1, 3, 5].map { "before-write:\($0):stop" }.joined(separator: ",")
            try await run(test, changes: count - 9, fault: fault) { program in
                async let visits: Void = {
                    while !program.hasEnded {
                        let id = BSONValue.integer(.random(in: 0..<count))
                        try await database.update("people", ["_id": id], ["$inc": ["visits": 1]])
                        try await Task.sleep(for: .milliseconds(5))
                    }
                }()
                try await program.atEachStop {
                    let open = try await database.documents("people", isOpen).prefix(3)
                    for id in open.compactMap({ $0["_id"] }) {
                        try await database.update("people", ["_id": id], change)
                        taken.append(id)
                    }
                }
                try await visits
            }
            #expect(taken.count == 9)
            let written = try await database.documents("people")
            try await undo(test, restores: count - 9)
            let after = try await database.documents("people")
            let expected = try (0..<count).map { id in
                let visits = written[id]["visits"] ?? .null
                return taken.contains(.integer(id))
                    ? written[id] : try Self.document(id).replacing("visits", with: visits)
            }
            expectEqual(after, expected)
        }
    }

    /// A client changes another field of every document, while a chunk of the run and a chunk of the undo are planned
    /// and not yet written.
    @Test(
        arguments: [
            "default: {field: s, value: 0}", "unset: {field: nick}", "convert: {field: age, to: string}",
            "rename: {from: nick, to: alias}", "wrap: {field: nick}",
            "copy: {from: born, to: age, whenPresent: replace}",
        ])
    func aClientThatChangesAnotherFieldEverywhereHindersNothing(_ step: String) async throws {
        let count = 600
        try await withPeople(count, step) { test in
            var visits = 0
            let fault = "before-write:1:stop,before-write:3:stop"
            let visit: (LiveProgram) async throws -> Void = { program in
                try await program.atEachStop {
                    try await test.database.run([
                        "update": "people", "updates": [["q": [:], "u": ["$inc": ["visits": 1]], "multi": true]],
                    ])
                    visits += 1
                }
            }
            try await run(test, changes: count, fault: fault, during: visit)
            #expect(visits == 2)
            try await undo(test, restores: count, fault: fault, during: visit)
            #expect(visits > 2)
            let expected = try (0..<count).map { try Self.document($0).replacing("visits", with: .integer(visits)) }
            expectEqual(try await test.database.documents("people"), expected)
        }
    }

    /// The values of a client and of the document before it, which a job changes to the same value.
    private static let equalValues: [(BSONValue, BSONValue, String)] =
        {
            let two: [BSONValue] = [2, .long(2), 2.0, .decimal(Decimal128(2))]
            let pairs = two.flatMap { first in two.filter { $0 != first }.map { (first, $0) } }
            return pairs.map { ($0, $1, "convert: {field: n, to: string}") } + [
                ("1.50", "1.5", "convert: {field: n, to: double}"),
                (1, 1.0, "map: {field: n, values: [{from: 1, to: one}]}"),
            ]
        }()

    /// A client replaces a value by an equal value of another type before the job writes the document.
    ///
    /// The job's result is the same for both values. Undo restores the value of the client.
    @Test(arguments: equalValues) func anEqualValueOfAnotherTypeIsKept(
        _ before: BSONValue, _ clients: BSONValue, _ step: String
    ) async throws {
        try await withPeople(10, step, { ["_id": .integer($0), "n": before, "z": 1] }) { test in
            try await run(test, changes: 10, fault: "before-write:1:stop") { program in
                try await program.atEachStop { try await test.database.set("people", 3, ["n": clients]) }
            }
            try await undo(test, restores: 10)
            let expected = (0..<10).map { id -> BSONDocument in
                ["_id": .integer(id), "n": id == 3 ? clients : before, "z": 1]
            }
            expectEqual(try await test.database.documents("people"), expected)
        }
    }

    // MARK: Documents that the server refuses

    /// One of the e-mail addresses is equal to another one as soon as both are in lower case.
    @Test(arguments: [2, 3_001]) func aDocumentThatAUniqueIndexRefusesHindersNoOther(_ count: Int) async throws {
        let step = """
            expression: {field: email, when: {$ne: [$email, {$toLower: $email}]}, value: {$toLower: $email}}
            """
        func person(_ id: Int) -> BSONDocument {
            ["_id": .integer(id), "email": .string(id == 0 ? "Cy@x" : id == count / 2 ? "CY@x" : "User\(id)@x")]
        }
        try await withPeople(count, step, limits: "{}", person) { test in
            try await test.database.run([
                "createIndexes": "people", "indexes": [["key": ["email": 1], "name": "email", "unique": true]],
            ])
            try await run(test, changes: count - 1, exitCode: 1)
            #expect(try await test.database.count("people", ["email": "cy@x"]) == 1)
            try await undo(test, restores: count - 1)
            expectEqual(try await test.database.documents("people"), (0..<count).map(person))
        }
    }

    @Test func documentsThatAValidatorRefusesHinderNoOther() async throws {
        let count = 2_000
        try await withPeople(count, "convert: {field: age, to: string}", limits: "{}") { test in
            try await test.database.run([
                "collMod": "people", "validator": ["age": ["$nin": ["3", "700", "701", "1999"]]],
            ])
            try await run(test, changes: count - 4, exitCode: 1)
            try await undo(test, restores: count - 4)
            expectEqual(try await test.database.documents("people"), (0..<count).map(Self.document))
        }
    }

    // MARK: Undo

    /// A client deletes two documents, and inserts others with the same `_id`s and with the values that the job wrote.
    ///
    /// The client does this after undo has planned the write of these documents, and before undo sends that write.
    @Test(
        arguments: [
            "default: {field: email, value: none}", "unset: {field: nick}", "convert: {field: age, to: string}",
            "rename: {from: nick, to: alias}", "copy: {from: age, to: years}", "wrap: {field: nick}",
        ])
    func documentsThatAreInsertedAgainAreNotUndone(_ step: String) async throws {
        try await withPeople(20, step) { test in
            try await run(test, changes: 20)
            var inserted: [BSONDocument] = []
            let flags = ["--output", "json", "SHIPSHAPE_LEASE_TTL=60s"]
            let undone = try await test.undo(flags: flags, fault: "before-write:1:stop") { program in
                try await program.atEachStop {
                    for id in [3, 7] as [BSONValue] {
                        let old = try #require(try await test.database.documents("people", ["_id": id]).first)
                        let new = try old.replacing("name", with: "another").replacing("city", with: "Bergen")
                            .replacing("born", with: 2001).replacing("visits", with: 5)
                        try await test.database.delete("people", ["_id": id])
                        try await test.database.fill("people", [new])
                        inserted.append(new)
                    }
                }
            }
            #expect(undone.exitCode == 1, "\(undone.status): \(undone.errors)")
            let report = try test.report(undone)
            #expect(report["restored"]?.integer == 18)
            let left = report["left_alone"]?.document?.values.compactMap { $0.document?["ids"]?.document?.values } ?? []
            #expect(Set(left.flatMap(\.self)) == [3, 7])
            let expected = (0..<20).map { $0 == 3 ? inserted[0] : $0 == 7 ? inserted[1] : Self.document($0) }
            expectEqual(try await test.database.documents("people"), expected)
        }
    }

    /// Clients change one of the two fields that the job wrote in some documents.
    ///
    /// Undo restores the other field there. Once the clients' values are gone, the next undo restores the rest.
    @Test func theOtherFieldsOfAChangedDocumentAreUndone() async throws {
        let count = 50
        try await withPeople(count, "convert: {field: age, to: string}\n  - unset: {field: nick}") { test in
            try await run(test, changes: count)
            for id in 0..<5 { try await test.database.set("people", .integer(id), ["age": "old"]) }
            let first = try await test.undo(flags: ["--output", "json"])
            #expect(first.exitCode == 1, "\(first.status): \(first.errors)")
            #expect(try test.report(first)["restored"]?.integer == count - 5)
            let expected = try (0..<count).map { id in
                id < 5 ? try Self.document(id).replacing("age", with: "old") : Self.document(id)
            }
            expectEqual(try await test.database.documents("people"), expected)
            for id in 0..<5 { try await test.database.set("people", .integer(id), ["age": .string("\(id)")]) }
            let second = try await test.undo(flags: ["--output", "json"])
            #expect(second.exitCode == 0, "\(second.status): \(second.errors)")
            #expect(try test.report(second)["restored"]?.integer == 5)
            expectEqual(try await test.database.documents("people"), (0..<count).map(Self.document))
        }
    }

    @Test(
        arguments: ["after-restore:1:kill", "after-restore:2:kill", "before-write:3:kill", "after-state-write:4:kill"])
    func anUndoAfterAKilledOneReportsTheSumOfBoth(_ fault: String) async throws {
        let count = 400
        try await withPeople(count, "convert: {field: age, to: string}") { test in
            try await run(test, changes: count)
            #expect(try await test.undo(flags: ["SHIPSHAPE_LEASE_TTL=4s"], fault: fault).wasKilled)
            let left = try await test.database.count("people", ["age": ["$type": "string"]])
            let undone = try await test.undo(flags: ["--output", "json", "SHIPSHAPE_LEASE_WAIT=60s"])
            #expect(undone.exitCode == 0, "\(undone.status): \(undone.errors)")
            let report = try test.report(undone)
            #expect(report["restored"]?.integer == left)
            #expect(report["restored_earlier"]?.integer == count - left)
            #expect(report["left_alone"]?.document?.values == [])
            expectEqual(try await test.database.documents("people"), (0..<count).map(Self.document))
        }
    }
}
