import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests the nightly checks in `jobs/`, installed as the comment at the beginning of each file says.
@Suite struct NightlyTests {
    private typealias Install = @Sendable (TestDatabase, Mongod) throws -> InstalledNightly

    /// Runs the check on three nights.
    ///
    /// The check finds nothing on the first night, reports a new finding on the second, and reports no change on the
    /// third.
    private func nights(of install: Install) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", count: 20) { ["_id": .int(Int32($0)), "name": "Ada"] }
            let nightly = try install(database, mongod)
            defer { nightly.root.remove() }

            let clean = try await nightly.run()
            #expect(clean.exitCode == 0, "\(clean.errors)")
            #expect(clean.output == "" && clean.errors == "", "cron would send a mail")

            try await database.fill("person", [["_id": .int(100), "name": .null]])
            let found = try await nightly.run()
            #expect(found.exitCode == 1, "\(found.errors)")
            #expect(found.output.hasPrefix("1 document does not sync, 1 more than at "), "\(found.output)")
            let changesArrived = found.output.split(separator: "\n\n").first { $0.hasPrefix("Since the check of ") }
            #expect(changesArrived?.contains(": 1 new, 0 grown, 0 shrunk, 0 gone.") == true, "\(found.output)")
            #expect(changesArrived?.contains("required-null") == true, "\(found.output)")

            let again = try await nightly.run()
            #expect(again.exitCode == 1)
            #expect(again.output.contains("\nNote: Nothing changed since the check of "), "\(again.output)")
            // The history contains the checks of all three nights.
            #expect(try nightly.reports("").contains("history"))
            let history = nightly.root.path.appending("var/lib/shipshape/nightly/history").string
            let trend = try await Program.run(["history", history, "-o", "json"])
            #expect(trend.exitCode == 0, "\(trend.errors)")
            let failing = try JSONValue(trend.output)["runs"]?.elements.map { $0["failing"] }
            #expect(failing == [.number(0), .number(1), .number(1)])
            let metrics = try #require(nightly.root.text(of: "var/lib/shipshape/nightly/nightly.prom"))
            #expect(metrics.contains("shipshape_failing_documents{") && metrics.contains("level=\"certain\"} 1\n"))

            // Only the reports of the newest two nights are kept.
            for ending in [".json", ".txt"] { #expect(try nightly.reports(ending).count == 2) }
            #expect(try nightly.reports(".log") == [])
            let newest = try #require(try nightly.reports(".json").last)
            let report = try #require(nightly.root.text(of: "var/lib/shipshape/nightly/\(newest)"))
            #expect(report.contains("\"schema_version\""))
        }
    }

    @Test func byCronItShowsWhatIsNewSinceTheNightBefore() async throws {
        try await nights { try .byCron(for: $0, on: $1) }
    }

    @Test func bySystemdItShowsWhatIsNewSinceTheNightBefore() async throws {
        try await nights { try .bySystemd(for: $0, on: $1) }
    }

    @Test func aDeploymentThatIsAwayIsReportedWithItsExitCode() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            let nightly = try InstalledNightly.bySystemd(for: database, on: mongod)
            defer { nightly.root.remove() }
            let settings = try #require(nightly.root.text(of: "etc/shipshape/nightly.conf"))
            try nightly.root.write(
                settings.replacing(mongod.uri, with: "mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=500"),
                to: "etc/shipshape/nightly.conf")
            let run = try await nightly.run()
            #expect(run.exitCode == 69)
            #expect(run.errors.contains("127.0.0.1:1"), "\(run.errors)")
            #expect(try nightly.reports(".log").count == 1)
        }
    }

    @Test func settingsInTheWorkingFolderNeedNoPath() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(CommandLineFolder.person, to: "person.json")
        try folder.write(
            """
            SHIPSHAPE_URI=mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=500
            SHIPSHAPE_SCHEMA=\(folder.path)/person.json
            SHIPSHAPE_OPTIONS='--collection app.person'
            SHIPSHAPE_REPORTS=\(folder.path)/reports
            """, to: "nightly.conf")
        let run = try await Program.shell(
            #"exec env -i PATH="$(dirname "$0"):/usr/bin:/bin" /bin/sh "$1" nightly.conf"#,
            [Repository.path("jobs/nightly").string], in: folder.path)
        #expect(run.exitCode == 69 && run.errors.contains("127.0.0.1:1"), "\(run.errors)")
    }

    @Test func withoutSettingsItSaysWhereTheyBelong() async throws {
        let run = try await Program.shell(
            #"exec env -i /bin/sh "$1" "$2""#, [Repository.path("jobs/nightly").string, "/nowhere/nightly.conf"])
        #expect(run.exitCode == 78)
        #expect(run.errors == "nightly: /nowhere/nightly.conf cannot be read: copy jobs/nightly.conf there\n")
    }
}
