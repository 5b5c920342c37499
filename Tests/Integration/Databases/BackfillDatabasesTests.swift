import BSON
import Glibc
import TestSupport
import Testing

/// Tests one job in many databases with the same collections.
///
/// Each database ends as if the job had been run in that database alone.
@Suite struct BackfillDatabasesTests {
    /// Returns people with a home, an owner and an age.
    ///
    /// In kind 1, half of the ages are converted already. In kind 2, every tenth age cannot be converted.
    private func people(_ kind: Int) -> [BSONDocument] {
        (0..<50).map { id in
            let age: BSONValue =
                switch kind {
                case 1 where id < 25: .string("\(id)")
                case 2 where id % 10 == 0: ["of": .integer(id)]
                default: .integer(id)
                }
            return [
                "_id": .integer(id), "age": age, "home": ["key": .integer(id / 2), "city": .integer(id / 2)],
                "owner": .integer(id % 2),
            ]
        }
    }

    private func fill(_ database: TestDatabase, _ kind: Int) async throws {
        try await database.fill("people", people(kind))
        try await database.fill(
            "owners", [["_id": 0, "to": .string("owner of \(kind)")], ["_id": 1, "to": .string("other of \(kind)")]])
    }

    /// Returns steps that read the collection `owners` and insert documents into the collection `homes`.
    private func steps(in database: String) -> [String] {
        [
            "convert: {field: age, to: string}",
            "map: {field: owner, lookup: \(database).owners, once: remapped}",
            "extract: {field: home, to: \(database).homes, idFrom: key}",
        ]
    }

    @Test(.fencedDeletes) func eachEndsAsIfItWereRunAlone() async throws {
        try await DatabasesCase.with(3) { databases in
            let test = databases.test
            for (kind, database) in databases.others.enumerated() { try await fill(database, kind) }
            try test.job(steps: steps(in: test.database.name), limits: "{chunk: {documents: 20}}")
            let run = try await databases.backfill("-o", "json")
            // Values that cannot be converted are findings, and do not stop the job in the other databases.
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(try databases.states(run) == ["done", "done", "done_with_findings"])
            for (kind, database) in databases.others.enumerated() {
                try await test.mongod.withDatabase { alone in
                    try await fill(alone, kind)
                    let name = "alone-\(kind)"
                    try test.write(
                        "\(name).yml",
                        "job: \(name)\ncollection: \(alone.name).people\nsteps:\n"
                            + steps(in: alone.name).map { "  - \($0)\n" }.joined())
                    let lone = try await test.backfill(name)
                    #expect(lone.exitCode == (kind == 2 ? 1 : 0), "\(lone.errors)")
                    for collection in ["people", "owners", "homes"] {
                        let documents = try await database.documents(collection)
                        #expect(documents.count > 1)
                        #expect(try await documents == alone.documents(collection), "\(collection) of \(kind)")
                    }
                }
            }
            // The run writes nothing in the database that the job file names, because `--databases` does not match it.
            #expect(try await test.database.count("people") + test.database.count("homes") == 0)
        }
    }

    @Test func eachIsAJobOfItsOwnWithARowInOneReport() async throws {
        try await DatabasesCase.withPeople { databases in
            let run = try await databases.backfill()
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.hasPrefix("Job job in 3 databases: 3 done.\n"), "\(run.output)")
            for (index, database) in databases.others.enumerated() {
                let row = [database.name, "done", "60", "0", "0"]
                let rows = run.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
                #expect(rows.contains(row), "\(run.output)")
                #expect(try await databases.test.status(of: databases.job(index))["state"] == "done")
            }
            #expect(try await databases.people() == Array(repeating: DatabasesCase.converted, count: 3))
            try await databases.expectOwnUntouched()
            // `job tune` accepts the name of the job in one database, and the next run accepts the tuned limit.
            let tuned = try await databases.test.steer("tune", databases.job(1), "chunk.documents=7")
            #expect(tuned.exitCode == 0, "\(tuned.errors)")
            let again = try await databases.backfill("-o", "json")
            #expect(again.exitCode == 0, "\(again.errors)")
            #expect(try databases.states(again) == ["nothing_to_do", "nothing_to_do", "nothing_to_do"])
        }
    }

    @Test func aKilledJobContinuesAndFinishedOnesDoNot() async throws {
        try await DatabasesCase.withPeople { databases in
            // The job takes three chunks in each database. The run is killed after its fifth write, before it commits
            // the second chunk in the second database.
            let killed = try await databases.backfill(fault: "after-write:5")
            #expect(killed.wasKilled, "\(killed.status)")
            #expect(try await databases.test.status(of: databases.job(0))["state"] == "done")
            #expect(try await databases.test.checkpoint(databases.job(1))?.chunks == 1)
            #expect(try await databases.test.checkpoint(databases.job(2)) == nil)
            let run = try await databases.backfill("-o", "json")
            #expect(run.exitCode == 0, "\(run.errors)")
            let rows = try databases.rows(run)
            #expect(rows.map { $0["state"]?.text } == ["nothing_to_do", "done", "done"])
            #expect(rows.map { $0["report"]?["earlier_chunks"] } == [.number(3), .number(1), .number(0)])
            #expect(rows[1]["changed"] == .number(40))
            #expect(try await databases.people() == Array(repeating: DatabasesCase.converted, count: 3))
        }
    }

    @Test func aSignalEndsTheRunAtThatDatabaseAndTheNextContinues() async throws {
        try await DatabasesCase.withPeople { databases in
            let stopped = try await databases.backfill("-o", "json", fault: "after-checkpoint:4:stop") { program in
                try await waitUntil("the program is stopped") { try program.isStopped }
                program.send(SIGTERM)
                program.send(SIGCONT)
            }
            #expect(stopped.exitCode == 75, "\(stopped.errors)")
            #expect(try databases.states(stopped) == ["done", "stopped", "not_reached"])
            let report = try JSONValue(stopped.output)
            #expect(report["ended_early"]?["database"]?.text == databases.others[1].name)
            #expect(report["not_reached"]?.elements.compactMap(\.text) == [databases.others[2].name])
            let run = try await databases.backfill("-o", "json")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try databases.states(run) == ["nothing_to_do", "done", "done"])
            #expect(try await databases.people() == Array(repeating: DatabasesCase.converted, count: 3))
        }
    }

    @Test func aDeadlineIsForAllOfThem() async throws {
        try await DatabasesCase.withPeople { databases in
            let run = try await databases.backfill("--max-runtime", "1ms", "-o", "json")
            #expect(run.exitCode == 75, "\(run.errors)")
            #expect(try databases.states(run).dropFirst() == ["not_reached", "not_reached"])
            #expect(try await databases.people().dropFirst() == [DatabasesCase.people, DatabasesCase.people])
        }
    }

    @Test func oneIsUndoneByItsNameAndLeftByTheNextRun() async throws {
        try await DatabasesCase.withPeople { databases in
            #expect(try await databases.backfill().exitCode == 0)
            let undone = try await databases.test.undo(databases.job(1))
            #expect(undone.exitCode == 0, "\(undone.output)\(undone.errors)")
            let after = [DatabasesCase.converted, DatabasesCase.people, DatabasesCase.converted]
            #expect(try await databases.people() == after)
            let run = try await databases.backfill("-o", "json")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try databases.states(run) == ["nothing_to_do", "undone", "nothing_to_do"])
            #expect(try await databases.people() == after)
        }
    }

    @Test func aDryRunShowsAllOfThemAndWritesNothing() async throws {
        try await DatabasesCase.withPeople { databases in
            try await databases.others[2].run(["delete": "people", "deletes": [["q": [:], "limit": 0]]])
            let before = try await databases.people()
            let run = try await databases.backfill("--dry-run", "-o", "json", yes: false)
            #expect(run.exitCode == 0, "\(run.errors)")
            let rows = try databases.rows(run)
            #expect(rows.map { $0["state"]?.text } == ["would_change", "would_change", "nothing_to_do"])
            #expect(rows.map { $0["changed"] } == [.number(60), .number(60), .number(0)])
            #expect(try await databases.people() == before)
            #expect(try await !databases.test.hasState())
        }
    }

    /// A step with `once` adds a field that marks a document as done.
    ///
    /// `job cleanup` removes these fields.
    ///
    /// It removes them in the database where the job ran, and not in the database that the job file names.
    @Test func aCleanupIsOfItsDatabase() async throws {
        try await DatabasesCase.withPeople(in: 2) { databases in
            let marked = DatabasesCase.people.map { $0.appending("raised", true) }
            try databases.test.job(steps: [
                "expression: {field: age, value: {$add: ['$age', 1]}, when: true, once: raised}"
            ])
            #expect(try await databases.backfill().exitCode == 0)
            try await databases.test.database.run(["drop": "people"])
            try await databases.test.database.fill("people", marked)
            let run = try await databases.test.steer("cleanup", databases.job(0), "--yes")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(try await databases.others[0].count("people", ["raised": true]) == 0)
            #expect(try await databases.others[1].count("people", ["raised": true]) == 60)
            #expect(try await databases.test.database.documents("people") == marked)
        }
    }

    /// Undo removes the documents that each job inserted into `homes`, although the same file ran in other databases.
    ///
    /// The file's step names `homes` of one database, but each job inserts into `homes` of the database in which it
    /// runs. No other job uses that collection, so undo need not keep documents for another job.
    @Test(.fencedDeletes) func createdDocumentsAreRemovedAlthoughTheSameFileRanElsewhere() async throws {
        try await DatabasesCase.with(2) { databases in
            let test = databases.test
            let people: [BSONDocument] = (0..<30).map { ["_id": .integer($0), "home": ["city": .integer($0)]] }
            for database in databases.others + [test.database] { try await database.fill("people", people) }
            try test.job(steps: ["extract: {field: home, to: \(test.database.name).homes, generate: uuid}"])
            #expect(try await test.backfill().exitCode == 0)
            #expect(try await databases.backfill().exitCode == 0)
            for (job, database) in [("job", test.database), (databases.job(1), databases.others[1])] {
                #expect(try await database.count("homes") == 30)
                let undone = try await test.undo(job)
                #expect(undone.exitCode == 0, "\(undone.output)\(undone.errors)")
                #expect(try await database.documents("people") == people)
                #expect(try await database.count("homes") == 0, "\(job)")
            }
            #expect(try await databases.others[0].count("homes") == 30)
        }
    }
}
