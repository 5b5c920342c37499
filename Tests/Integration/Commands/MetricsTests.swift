import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests the metrics file that a run writes, whether it succeeds, fails, or is stopped.
@Suite struct MetricsTests {
    private func value(_ name: String, in folder: FilePath) throws -> Double? {
        let text = try String(contentsOfFile: folder.appending("m.prom").string, encoding: .utf8)
        return text.split(separator: "\n").first { $0.hasPrefix("shipshape_\(name){") }
            .flatMap { $0.split(separator: " ").last }.flatMap { Double($0) }
    }

    @Test func aCheckThatFailsKeepsTheResultOfTheOneBefore() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": 1, "name": "Ada"], ["_id": 2]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let arguments = try folder.check(database, on: mongod) + ["--metrics", "m.prom"]
            let run = try await Program.run(arguments, in: folder.path)
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(try value("exit_code", in: folder.path) == 1)
            #expect(try value("failing_documents", in: folder.path) == 1)
            let success = try #require(try value("last_success_timestamp_seconds", in: folder.path))
            let away = arguments.map { $0 == mongod.uri ? "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=200" : $0 }
            let failed = try await Program.run(away, in: folder.path)
            #expect(failed.exitCode == 69, "\(failed.errors)")
            #expect(try value("exit_code", in: folder.path) == 69)
            #expect(try value("last_success_timestamp_seconds", in: folder.path) == success)
            #expect(try value("failing_documents", in: folder.path) == 1)
        }
    }

    @Test func aPlaceThatCannotBeWrittenIsReportedBeforeTheWork() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", count: 3)
            try test.job(steps: ["default: {field: email, value: none}"])
            let run = try await test.backfill("job", "--metrics", "/nowhere/m.prom")
            #expect(run.exitCode == 73)
            #expect(run.errors.contains("cannot write the metrics /nowhere/m.prom"), "\(run.errors)")
            #expect(try await test.database.count("people", ["email": "none"]) == 0)
        }
    }

    @Test func aBackfillShowsThatItWaitsAndHowItEnded() async throws {
        try await ThrottleCase.withPeople(on: try await .shared, limits: #"pause: "00:00-24:00 UTC""#) { test in
            let file = test.folder.appending("m.prom").string
            func metrics() -> String { (try? String(contentsOfFile: file, encoding: .utf8)) ?? "" }
            let stopped = try await test.backfill(flags: ["--metrics", file]) { program in
                try await waitUntil("the file tells of the wait") {
                    metrics().contains("name=\"job\",reason=\"pauseWindow\"} 1\n")
                }
                program.send(SIGTERM)
            }
            #expect(stopped.exitCode == 75, "\(stopped.errors)")
            #expect(try value("exit_code", in: test.folder) == 75)
            #expect(try value("running", in: test.folder) == 0)
            #expect(try value("last_success_timestamp_seconds", in: test.folder) == nil)
            #expect(try await ThrottleCase.steer("tune", test, "pause=off").exitCode == 0)
            let done = try await test.backfill("job", "--metrics", file)
            #expect(done.exitCode == 0, "\(done.errors)")
            #expect(try value("changed_documents", in: test.folder) == Double(ThrottleCase.people))
            #expect(try value("remaining_documents", in: test.folder) == 0)
            #expect(try value("last_success_timestamp_seconds", in: test.folder) != nil)
            #expect(!metrics().contains("reason=\"pauseWindow\"} 1\n"))
        }
    }
}

/// Tests the alert rules of `jobs/prometheus` with `promtool`, the checker that comes with Prometheus.
@Suite struct AlertRuleTests {
    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/promtool"), "scripts/setup --tests installs it"),
        arguments: [["check", "rules", "shipshape.rules.yml"], ["test", "rules", "shipshape.rules.test.yml"]])
    func promtoolAcceptsTheRules(_ arguments: [String]) async throws {
        let run = try await Program.shell(
            #"cd "$1" && shift && exec promtool "$@" 2>&1"#,
            [Repository.path("jobs/prometheus").string] + arguments)
        #expect(run.exitCode == 0, "\(run.output)")
    }

    /// The alert rules use only metrics that the program writes.
    @Test func theRulesNameMetricsThatThereAre() throws {
        let rules = try String(
            contentsOfFile: Repository.path("jobs/prometheus/shipshape.rules.yml").string, encoding: .utf8)
        let sources = try ["Reporting/Metrics/RunMetrics.swift", "Reporting/WatchReport.swift"].map {
            try String(contentsOfFile: Repository.path("Sources/\($0)").string, encoding: .utf8)
        }.joined()
        let mirror = try String(
            contentsOfFile: Repository.path("Sources/Reporting/Partner/MirrorReport.swift").string, encoding: .utf8)
        for match in rules.matches(of: /shipshape_([a-z_]+)/) {
            let name = String(match.1)
            let isReported =
                name.hasPrefix("mirror_")
                ? mirror.contains("\"\(name.dropFirst(7))\"") : sources.contains("\"\(name)\"")
            #expect(isReported, "\(name)")
        }
    }
}
