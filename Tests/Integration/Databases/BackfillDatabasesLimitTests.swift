import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests that the limit of unsynced documents, the metrics and the hooks apply to all databases together.
@Suite struct BackfillDatabasesLimitTests {
    /// Runs a test with 60 tasks in each of three databases.
    ///
    /// The job would make all 180 tasks unsyncable, but the limit allows only 99 of them.
    private func withTasks(_ body: (DatabasesCase) async throws -> Void) async throws {
        try await DatabasesCase.with(3) { databases in
            for database in databases.others {
                try await database.fill("tasks", count: 60) { ["_id": .integer($0), "priority": .string("\($0)")] }
            }
            try BudgetCase.writeSchemas(retyping: "priority", in: databases.test)
            try databases.test.job(
                on: "tasks", steps: ["convert: {field: priority, to: int}"],
                limits: "{chunk: {documents: 20}, unsynced: \(BudgetCase.ceiling), reserve: 0, ledgerLag: 1ms}",
                more: "schema: {active: active.json, next: next.json}")
            try await body(databases)
        }
    }

    private func unsyncable(_ databases: DatabasesCase) async throws -> [Int] {
        var counts: [Int] = []
        for database in databases.others {
            counts.append(try await database.count("tasks", ["priority": ["$type": "int"]]))
        }
        return counts
    }

    @Test func aStopAtTheLimitEndsTheRunAndTheNextContinues() async throws {
        try await withTasks { databases in
            let flags = ["--allow-unsync", "60", "SHIPSHAPE_LEDGER=none"]
            let stopped = try await databases.backfill(flags[0], flags[1], flags[2], "-o", "json")
            #expect(stopped.exitCode == 75, "\(stopped.errors)")
            #expect(try databases.states(stopped) == ["done", "stopped", "not_reached"])
            #expect(try await unsyncable(databases) == [60, 39, 0])
            #expect(try JSONValue(stopped.output)["ended_early"]?["reason"]?.text?.contains("the limit") == true)
            // The command `job deployed` releases the job's reservations in the first database, so that its 60
            // documents no longer count towards the limit.
            let deployed = try await databases.test.steer("deployed", databases.job(0), "--yes")
            #expect(deployed.exitCode == 0, "\(deployed.errors)")
            let run = try await databases.backfill(flags[0], flags[1], flags[2], "-o", "json")
            #expect(run.exitCode == 75, "\(run.errors)")
            #expect(try databases.states(run) == ["done_before", "done", "stopped"])
            let counts = try await unsyncable(databases)
            #expect(counts[0] == 60 && counts[1] == 60 && counts[1] + counts[2] < BudgetCase.ceiling, "\(counts)")
        }
    }

    @Test func oneThatHasNoRoomIsRefusedAndTheOthersRun() async throws {
        try await withTasks { databases in
            try await databases.others[2].run([
                "delete": "tasks", "deletes": [["q": ["_id": ["$gte": 10]], "limit": 0]],
            ])
            let run = try await databases.backfill("SHIPSHAPE_LEDGER=none", "-o", "json")
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(try databases.states(run) == ["done", "failed", "done"])
            #expect(try await unsyncable(databases) == [60, 0, 10])
        }
    }

    @Test func aDryRunShowsThatTogetherTheyHaveNoRoom() async throws {
        try await withTasks { databases in
            let run = try await databases.backfill("--dry-run", "SHIPSHAPE_LEDGER=none", "-o", "json", yes: false)
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(try databases.states(run) == ["would_change", "would_change", "would_change"])
            let refusal = try JSONValue(run.output)["refusal"]?.text ?? ""
            #expect(refusal.contains("180 documents unsyncable") && refusal.contains("room for 99"), "\(refusal)")
            #expect(try await unsyncable(databases) == [0, 0, 0])
        }
    }

    @Test func metricsAndHooksAreOfTheWholeRun() async throws {
        try await DatabasesCase.withPeople { databases in
            let file = databases.test.folder.appending("m.prom").string
            let reported = databases.test.folder.appending("told").string
            let run = try await databases.backfill(
                "--metrics", file, "--on", "start=cat >> \(reported)", "--on", "success=cat >> \(reported)")
            #expect(run.exitCode == 0, "\(run.errors)")
            let metrics = try String(contentsOfFile: file, encoding: .utf8)
            for line in [
                #"shipshape_changed_documents{command="backfill",name="job"} 180"#,
                #"shipshape_remaining_documents{command="backfill",name="job"} 0"#,
                #"shipshape_databases{command="backfill",name="job",state="done"} 3"#,
            ] {
                #expect(metrics.split(separator: "\n").contains { $0 == line }, "\(metrics)")
            }
            let events = try String(contentsOfFile: reported, encoding: .utf8).split(separator: "\n").map {
                try JSONValue(String($0))
            }
            #expect(events.map { $0["event"]?.text } == ["start", "success"])
            #expect(events.map { $0["name"]?.text } == ["job", "job"])
            #expect(events[1]["message"]?.text == "Job job in 3 databases: 3 done.")
        }
    }

    @Test func everyFormNamesEachDatabase() async throws {
        try await DatabasesCase.withPeople(in: 2) { databases in
            let forms = ["txt", "json", "jsonl", "md", "html", "xml"]
            let files = forms.map { databases.test.folder.appending("report.\($0)").string }
            let run = try await databases.test.backfill(
                flags: ["--databases", databases.pattern, "-o", "github"] + files.flatMap { ["--report", $0] })
            #expect(run.exitCode == 0, "\(run.errors)")
            let texts = try [run.output] + files.map { try String(contentsOfFile: $0, encoding: .utf8) }
            for text in texts {
                for database in databases.others { #expect(text.contains(database.name), "\(text)") }
            }
            // The report as JSON Lines has a line for each database, between its header and its result.
            let lines = texts[3].split(separator: "\n")
            #expect(lines.count == 4 && lines[1].contains(#""record":"database""#), "\(texts[3])")
        }
    }
}
