import BSON
import SystemPackage
import TestSupport
import Testing

/// Tests that `max-failing` and `thresholds` decide the exit code of a check, and that the report shows them.
@Suite struct CheckLimitTests {
    /// Checks 200 people, of whom 4 lack a name and 2 have an age of the wrong type.
    ///
    /// - Parameter configuration: the text of `shipshape.yml`; `nil` for no such file.
    private func check(_ flags: [String], configuration: String? = nil) async throws -> ProgramRun {
        try await Mongod.shared.withDatabase { database in
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            try await database.fill("person", count: 200) { number in
                switch number {
                case 0..<4: ["_id": .integer(number)]
                case 4..<6: ["_id": .integer(number), "name": "Ada", "age": "old"]
                default: ["_id": .integer(number), "name": "Ada"]
                }
            }
            if let configuration {
                try folder.write(configuration.replacing("DATABASE", with: database.name), to: "shipshape.yml")
            }
            return try await Program.run(
                try folder.check(database, on: try await Mongod.shared) + flags, in: folder.path)
        }
    }

    @Test(arguments: [("5", Int32(1)), ("6", 0), ("2.9%", 1), ("3%", 0)])
    func aLimitDecidesTheExitCode(_ limit: String, _ status: Int32) async throws {
        let run = try await check(["SHIPSHAPE_MAX_FAILING=\(limit)"])
        #expect(run.exitCode == status, "\(run.output)")
        let word = status == 0 ? "Accepted" : "Too many"
        #expect(
            run.output.contains("\(word): 6 of 200 (3%) documents fail, at most \(limit) may.\n"), "\(run.output)")
        #expect(run.output.hasPrefix("6 documents would stop syncing."), "the verdict stays")
        #expect(run.output.contains("200 documents read, 6 (3%) do not sync"), "\(run.output)")
    }

    @Test func aRuleCanHaveALimit() async throws {
        let threshold = "thresholds: [{collection: DATABASE.person, rule: required-missing, max-failing: 4}]\n"
        let run = try await check(["-o", "json"], configuration: threshold)
        #expect(run.exitCode == 1, "two documents break another rule")
        let limits = try BSONDocument(extendedJSON: run.output)["limits"]?.document?.values.compactMap(\.document)
        #expect(limits?.map { $0["failing"] } == [4, 2])
        #expect(limits?.map { $0["exceeded"] } == [false, true])
        let both = try await check(["SHIPSHAPE_MAX_FAILING=2"], configuration: threshold)
        #expect(both.exitCode == 0, "\(both.output)")
    }

    @Test func theConfigurationCanHoldTheLimit() async throws {
        #expect(try await check([], configuration: "max-failing: 10%\n").exitCode == 0)
        #expect(try await check(["SHIPSHAPE_MAX_FAILING=0"], configuration: "max-failing: 10%\n").exitCode == 1)
        let wrong = try await check([], configuration: "max-failing: many\n")
        #expect(wrong.exitCode == 78)
        #expect(wrong.errors.contains("neither a number of documents nor a share such as 0.1%"), "\(wrong.errors)")
        let rule = try await check(
            [], configuration: "thresholds: [{collection: a.b, rule: requred-missing, max-failing: 1}]\n")
        #expect(rule.exitCode == 78)
        #expect(rule.errors.contains("(did you mean \"required-missing\"?)"), "\(rule.errors)")
    }

    @Test func aThresholdForAnotherCollectionIsNoted() async throws {
        let run = try await check([], configuration: "thresholds: [{collection: DATABASE.persn, max-failing: 1}]\n")
        #expect(run.exitCode == 1)
        #expect(run.output.contains("shipshape.yml:1:14: the schema does not cover"), "\(run.output)")
        // The operator chose one collection, so a threshold for another one is no mistake.
        let other = try await check([], configuration: "thresholds: [{collection: a.b, max-failing: 1}]\n")
        #expect(!other.output.contains("does not cover"), "\(other.output)")
    }

    @Test func aPartLeavesTheLimitToMerge() async throws {
        // The part has two of the documents that may fail, and fails all the same: --join applies the limit to the sum.
        let run = try await check(["--part", "1/2", "SHIPSHAPE_MAX_FAILING=6"])
        #expect(run.exitCode == 1, "\(run.errors)")
        #expect(!run.output.contains("max-failing"), "\(run.output)")
    }

    @Test func aPartHasNoAnomalies() async throws {
        let run = try await check(["--part", "1/2", "--history", "history", "SHIPSHAPE_FAIL_ON_ANOMALY=true"])
        #expect(run.exitCode == 1 && run.output.contains("is not kept in the history"), "\(run.output)")
    }

    @Test func acceptedFindingsAreNoFailuresForBuildServers() async throws {
        let accepted = try await check(["SHIPSHAPE_MAX_FAILING=6", "-o", "junit"])
        #expect(accepted.output.contains("failures=\"0\""), "\(accepted.output)")
        let refused = try await check(["-o", "junit"])
        #expect(!refused.output.contains("failures=\"0\""))
    }
}
