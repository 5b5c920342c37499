import BSON
import Foundation
import Mongo
import Proving
import SystemPackage
import TestSupport
import Testing

/// Tests `doctor --prove` as an operator runs it.
@Suite struct DoctorProofTests {
    @Test func itComparesWithoutWriting() async throws {
        try await Mongod.shared.withDatabase { database in
            let run = try await Program.run([
                "doctor", "--prove", "--seconds", "2", "--seed", "5", "--output", "json", "--uri", Mongod.shared.uri,
                "SHIPSHAPE_STATE_DATABASE=\(database.name)",
            ])
            #expect(run.exitCode == 0, "\(run.output)\(run.errors)")
            let json = try BSONDocument(extendedJSON: run.output)
            #expect(json["seed"] == "5")
            let groups = json["groups"]?.document?.values.compactMap(\.document) ?? []
            #expect(groups.compactMap { $0["group"]?.text } == ["judging", "computing", "reading", "writing"])
            #expect(groups.dropLast().allSatisfy { ($0["cases"]?.integer ?? 0) > 0 && $0["differing"]?.integer == 0 })
            #expect(groups.last?["cases"] == 0)
            #expect(try await database.pool.run { try $0.listCollections(of: database.name) }.isEmpty)
        }
    }

    @Test func aDifferenceGivesExitCode1AndACase() async throws {
        try await Mongod.shared.withDatabase { database in
            let run = try await Program.run(
                ["doctor", "--prove", "--seconds", "10", "--seed", "5", "--uri", Mongod.shared.uri],
                plant: "operator:$split#1")
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.contains("differs from this program in"), "\(run.output)")
            #expect(run.output.contains("computing: ") && run.output.contains("split: {field: "), "\(run.output)")
            #expect(run.output.contains("\n\nOn this server, run jobs only with backfill --prove"), "\(run.output)")
        }
    }

    @Test func aCollectionWithACollationDoesNotMatter() async throws {
        try await Mongod.shared.withDatabase { database in
            try await database.run(["create": "c", "collation": ["locale": "en", "strength": 1]])
            let own = "SHIPSHAPE_DATABASE=\(database.name)"
            let run = try await Program.run(["doctor", "--prove", "--seconds", "2", "--uri", Mongod.shared.uri, own])
            #expect(run.exitCode == 0, "\(run.output)\(run.errors)")
        }
    }

    /// A slow link leaves no time for most cases, and the result says so.
    @Test func aShortProofNamesTheOpenCases() async throws {
        let link = try await BadLink(before: Mongod.shared.host, BadLink.Faults(delay: .milliseconds(50)))
        defer { link.close() }
        let uri = "mongodb://\(link.host)/?directConnection=true"
        let run = try await Program.run(["doctor", "--prove", "--seconds", "1", "--uri", uri])
        #expect(run.exitCode == 0, "\(run.output)\(run.errors)")
        for subject in ["fixed cases", "steps"] {
            #expect(run.output.contains(" of the \(subject) were not compared"), "\(run.output)")
        }
    }

    /// Each result on the page of servers is a file, which a user can add.
    @Test func theResultsOfThePageAreThoseOfItsFiles() throws {
        let page = try String(contentsOfFile: Repository.path("docs/reference/servers.md").string, encoding: .utf8)
        let rows = page.matches(
            of: /\| \[([^\]]+)\]\(proofs\/\1\.json\) \| ([0-9,]+) \| ([0-9,]+) \| .* \| ([0-9,]+) \|/)
        #expect(Set(rows.map { String($0.1) }).isSuperset(of: TestedServers.versions))
        let files = try FileManager.default.contentsOfDirectory(atPath: Repository.path("docs/reference/proofs").string)
        #expect(files.sorted() == rows.map { "\($0.1).json" }.sorted())
        for row in rows {
            let file = Repository.path("docs/reference/proofs/\(row.1).json").string
            let proof = try BSONDocument(extendedJSON: String(contentsOfFile: file, encoding: .utf8))
            #expect(proof["server"] == .string(String(row.1)))
            let groups = (proof["groups"]?.document?.values ?? []).compactMap(\.document)
            #expect(groups.prefix(2).map { $0["cases"]?.integer?.grouped } == [String(row.2), String(row.3)])
            #expect(groups.compactMap { $0["differing"]?.integer }.reduce(0, +).grouped == row.4)
        }
    }

    @Test func withWriteItTriesTheAssumptionsAndLeavesNothing() async throws {
        try await Mongod.shared.withDatabase { database in
            let own = "SHIPSHAPE_STATE_DATABASE=\(database.name)"
            let run = try await Program.run([
                "doctor", "--prove", "--write", "--seconds", "1", "--uri", Mongod.shared.uri, own,
            ])
            #expect(run.exitCode == 0, "\(run.output)\(run.errors)")
            #expect(run.output.contains("writing"), "\(run.output)")
            // Servers before 6.0 have no `collectionUUID`.
            let isWhole = try await Mongod.build.isAtLeast(6)
            #expect(run.output.contains("not tried") != isWhole, "\(run.output)")
            #expect(try await database.pool.run { try $0.listCollections(of: database.name) }.isEmpty)
        }
    }

    @Test(arguments: [
        ["--write"], ["--seconds", "5"], ["--seed", "5"], ["--prove", "--settings", "list"],
        ["--prove", "--seconds", "0"], ["schemas", "--prove"],
        ["--prove", "--strict"],
    ])
    func itsOptionsBelongTogether(_ options: [String]) async throws {
        let run = try await Program.run(["doctor"] + options)
        #expect(run.exitCode == 64, "\(run.output)\(run.errors)")
    }

    /// A job's steps that the client computes in another way are computed by the server.
    @Test func aStepThatDiffersIsComputedByTheServer() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill(
                "people", (0..<20).map { ["_id": .integer($0), "name": .string("a-\($0)")] })
            try test.job(steps: ["split: {field: name, by: '-', into: [first, last]}"])
            let wrong = try await test.backfill(flags: ["--prove"], plant: "operator:$split#1")
            #expect(wrong.exitCode == 0, "\(wrong.output)\(wrong.errors)")
            let sentence = "disagree on the job's steps"
            #expect(wrong.output.contains(sentence) && wrong.errors.contains(sentence), "\(wrong)")
            let expected: [BSONDocument] = (0..<20).map { number in
                ["_id": .integer(number), "name": .string("a-\(number)"), "first": "a", "last": .string("\(number)")]
            }
            #expect(try await test.database.documents("people") == expected)
            let quiet = try await test.backfill(flags: ["--prove", "--quiet"], plant: "operator:$split#1")
            #expect(quiet.errors.contains(sentence), "\(quiet.errors)")
            let json = try await test.backfill(flags: ["--prove", "--output", "json"], plant: "operator:$split#1")
            let report = try JSONValue(json.output)
            #expect(report["disagreement"]?.text?.contains(sentence) == true, "\(report)")
            #expect(report["notes"]?.elements.contains { $0.text?.contains(sentence) == true } == false)
        }
    }

    /// A server that falls silent ends a proof after a few seconds.
    @Test func aSilentServerEndsAProof() async throws {
        let mongod = try await Mongod.start()
        let started = ContinuousClock.now
        let run = try await Program.run(
            ["doctor", "--prove", "--seconds", "5", "--uri", mongod.uri],
            during: { _ in
                try await Task.sleep(for: .seconds(2))
                try mongod.suspend()
            })
        #expect(run.exitCode == 69, "\(run)")
        #expect(run.errors.contains("the server did not answer the command aggregate, or the connection"), "\(run)")
        #expect(run.errors.contains("(check that the server and the network to it work"), "\(run)")
        #expect(ContinuousClock.now - started < .seconds(40))
    }

    @Test func aJobThatIsProvenSaysSo() async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", (0..<20).map { ["_id": .integer($0), "n": .integer($0)] })
            try test.job(steps: ["convert: {field: n, to: string}"])
            for options in [["--dry-run", "--prove"], ["--prove"]] {
                let run = try await test.backfill(flags: options)
                #expect(run.exitCode == 0, "\(run.output)\(run.errors)")
                let shown = run.output + run.errors
                #expect(shown.contains("agree on the job's steps"), "\(shown)")
            }
        }
    }
}
