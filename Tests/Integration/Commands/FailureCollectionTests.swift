import BSON
import Subprocess
import TestSupport
import Testing

/// Tests `check --failures db:NAME.COLLECTION`.
@Suite struct FailureCollectionTests {
    private func withPeople(
        _ body: (TestDatabase, TestDatabase, CommandLineFolder, @escaping ([String]) async throws -> ProgramRun)
            async throws -> Void
    ) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await mongod.withDatabase { other in
                try await database.fill("person", [["_id": 1], ["_id": 2, "name": 5], ["_id": 3, "name": "Ada"]])
                let folder = try CommandLineFolder()
                defer { folder.remove() }
                let arguments = try folder.check(database, on: mongod)
                try await body(database, other, folder) { try await Program.run(arguments + $0, in: folder.path) }
            }
        }
    }

    @Test func eachFailingDocumentIsStoredWithItsRun() async throws {
        try await withPeople { database, other, folder, check in
            let flags = ["--failures", "db:\(other.name).failures", "--failures", "f.jsonl"]
            let first = try await check(flags)
            #expect(first.exitCode == 1, "\(first.errors)")
            #expect(first.errors.contains("stored 2 failing documents in \(other.name).failures, run "))
            let all = try await other.documents("failures")
            let stored = all.filter { $0["record"] == "check_failure" }
            #expect(all.count == stored.count + 1, "one document marks the collection")
            #expect(stored.map { $0["document"] } == [1, 2])
            #expect(stored.allSatisfy { $0["collection"] == "person" && $0["database"] == .string(database.name) })
            let rules = stored.map { $0["violations"]?.document?.values.first?.document?["rule"]?.text }
            #expect(rules == ["required-missing", "type-mismatch"])
            let runs = Set(stored.compactMap { $0["run"]?.text })
            let run = try #require(runs.first)
            #expect(runs.count == 1 && first.errors.contains(run), "\(runs)")
            #expect(stored.allSatisfy { if case .date? = $0["at"] { true } else { false } })
            // The file `f.jsonl` lists the same two documents as the collection `failures`.
            let lines = try #require(folder.text(of: "f.jsonl")).split(separator: "\n")
            #expect(lines.count { $0.contains(#""record":"failure""#) } == 2)
            #expect(lines.last?.contains(#""record":"result""#) == true)
            // The next run adds its failing documents to those of the first run.
            #expect(try await check(flags).exitCode == 1)
            let both = try await other.documents("failures").filter { $0["record"] == "check_failure" }
            #expect(both.count == 4 && Set(both.compactMap { $0["run"]?.text }).count == 2)
        }
    }

    @Test(.enabled(if: FakeClock.library != nil, "scripts/setup installs libfaketime"))
    func oldRunsAreRemoved() async throws {
        try await withPeople { database, other, folder, check in
            let flags = ["--failures", "db:\(other.name).failures", "SHIPSHAPE_KEEP_FAILURES=7"]
            #expect(try await check(flags).exitCode == 1)
            let arguments = try folder.check(database, on: try await Mongod.shared) + flags
            for (hours, count) in [(6 * 24, 4), (8 * 24, 4)] {
                try await FakeClock.lend { clock in
                    let variables = clock.variables("\(hours)h").map {
                        (Environment.Key(stringLiteral: $0.key), String?.some($0.value))
                    }
                    let run = try await Program.run(
                        arguments, environment: Dictionary(uniqueKeysWithValues: variables), in: folder.path)
                    #expect(run.exitCode == 1, "\(run.errors)")
                }
                // With `keep-failures: 7`, the check after six days keeps the documents of the first run. The check
                // after eight days removes them.
                #expect(try await other.count("failures") == count + 1, "after \(hours) h, with the mark")
            }
        }
    }

    /// A check stores no failures in a collection that it checks, that has other documents, or that belongs to the
    /// server or to sync.
    @Test func collectionsOfTheAppAreRefused() async throws {
        try await withPeople { database, other, folder, check in
            try await other.fill("mine", [["_id": "a"], ["_id": "2026-01-01T000000Z"]])
            try await other.fill("ids", [["_id": .objectID(ObjectID(high: 1, low: 1))]])
            // The first and the last document look like those of a check.
            try await other.fill(
                "between",
                [["_id": "2", "record": "check_failure"], ["_id": "3"], ["_id": "4", "record": "check_failure"]])
            _ = try await other.run(["create": "view", "viewOn": "nothing", "pipeline": .array(of: [])])
            _ = try await other.run(["create": "times", "timeseries": ["timeField": "t"]])
            _ = try await other.run(["create": "strict", "validator": ["x": 1]])
            _ = try await other.run(["create": "capped", "capped": true, "size": 4_096])
            for (place, message) in [
                ("\(database.name).person", "the collection itself is checked: name another one"),
                ("\(other.name).mine", "the collection has documents that no check wrote"),
                ("\(other.name).ids", "the collection has documents that no check wrote"),
                ("\(other.name).between", "the collection has documents that no check wrote"),
                ("admin.failures", "admin.failures: it belongs to the server"),
                ("__realm_sync.unsynced_documents", "it belongs to the sync engine"),
                ("shipshape.jobs", "the database holds the state of jobs"),
                ("shipshape.control", "the database holds the state of jobs"),
                ("\(other.name).$cmd", "a collection's name cannot hold a $"),
                ("\(other.name).x$y", "a collection's name cannot hold a $"),
                ("\(other.name).\(String(repeating: "x", count: 256))", "the name is too long for a server"),
                ("SHIPSHAPE.jobs", "the database holds the state of jobs"),
                ("\(other.name).view", "the collection refuses what check stores"),
                ("\(other.name).times", "the collection refuses what check stores"),
                ("\(other.name).strict", "the collection refuses what check stores"),
                ("\(other.name).capped", "a capped collection loses documents"),
                (other.name, "write db:NAME.COLLECTION"),
            ] {
                let run = try await check(["--failures", "db:\(place)"])
                #expect(run.exitCode == 64 && run.errors.contains(message), "\(place): \(run.errors)")
                #expect(run.output.isEmpty)
            }
            // The server is asked before any document is read.
            let otherCase = try await check(["--failures", "db:\(other.name.uppercased()).failures"])
            #expect(otherCase.exitCode == 65 && otherCase.output.isEmpty, "\(otherCase.errors)")
            for (name, message) in [
                (other.name.uppercased(), "which differs in case only"), ("__realm_sync", "cannot be the name"),
            ] {
                let run = try await check(["--history", "db:\(name)"])
                #expect(run.exitCode == 64 && run.errors.contains(message) && run.output.isEmpty, "\(run.errors)")
            }
            #expect(try await database.count("person") == 3)
            #expect(try await other.count("mine") == 2)
            #expect(try await other.count("capped") == 0)
        }
    }

    @Test func aCheckThatIsRefusedStoresNothing() async throws {
        try await withPeople { _, other, _, check in
            let two = ["--failures", "db:\(other.name).a", "--failures", "db:\(other.name).b"]
            let run = try await check(two)
            #expect(run.exitCode == 64 && run.errors.contains("one file and one collection at most"), "\(run.errors)")
            #expect(try await check(["SHIPSHAPE_KEEP_FAILURES=0"]).exitCode == 78)
        }
    }
}
