import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests the verdicts of `check`, `diff` and `plan` on the schema of a partner collection.
@Suite(.fencedDeletes) struct PartnerVerdictTests {
    private static func schema(_ title: String, _ key: String, tags: String = "mixed") -> String {
        """
        { "title": "\(title)", "bsonType": "object", "required": ["_id", "\(title == "Task" ? "title" : "name")"],
          "properties": {
            "_id": { "bsonType": "\(key)" }, "\(title == "Task" ? "title" : "name")": { "bsonType": "string" },
            "priority": { "bsonType": "\(key == "string" ? "string" : "int")" }, "parent": { "bsonType": "\(key)" },
            "legacy": { "bsonType": "string" }, "note": { "bsonType": "string" },
            "tags": { "bsonType": "array", "items": { "bsonType": "\(tags)" } } } }
        """
    }

    /// The newer schemas.
    ///
    /// In `additional`, the schema of the partner collection is added, and the schema of the original collection stays.
    /// In `changed`, the schema of the original collection is changed in place.
    private enum Next: String {
        case additional, changed
        /// The schema of the original collection is changed in place, also in the field `tags`, which no step of the
        /// partner job mentions.
        case changedMore = "changed-more"
        /// The schema of the original collection is changed in place, and the schema of the partner collection is
        /// added.
        case both
    }

    /// Runs a test with a partner collection, which `partner init` has filled, and which was not compared yet.
    ///
    /// The command `partner verify` makes the comparison. The test's folder has the older schemas, and the newer
    /// schemas of each case of ``Next``.
    private func withPartner(_ body: (PartnerCase) async throws -> Void) async throws {
        try await Mongod.shared.withPartner { test in
            try test.job()
            func write(_ version: String, _ collection: String, _ schema: String) throws {
                try test.folder.write(schema, to: "\(version)/\(test.database.name)/\(collection)/schema.json")
            }
            for version in ["old", Next.additional.rawValue] {
                try write(version, "Task", Self.schema("Task", "objectId"))
            }
            for version in [Next.additional, .both] {
                try write(version.rawValue, "TaskV2", Self.schema("TaskV2", "string"))
            }
            for version in [Next.changed, .both] {
                try write(version.rawValue, "Task", Self.schema("Task", "string"))
            }
            try write(Next.changedMore.rawValue, "Task", Self.schema("Task", "string", tags: "string"))
            try await test.load(30)
            try #require(try await test.run("init").exitCode == 0)
            try await body(test)
        }
    }

    /// Starts a mirror, and runs `body` once the mirror lags by less than 30 seconds.
    private func mirroring(_ test: PartnerCase, _ body: () async throws -> Void) async throws {
        let run = try await test.run("mirror") { program in
            try await waitUntil("the mirror has caught up, or is dead") {
                if program.hasEnded { return true }
                guard let lag = try await test.lagSeconds() else { return false }
                return lag < 30
            }
            try #require(!program.hasEnded)
            try await body()
            program.send(SIGTERM)
        }
        #expect(run.exitCode == 0 || run.exitCode == 75, "\(run.errors)")
    }

    /// Runs a command with the older schema and the newer schema `next`.
    private func run(
        _ command: String, _ test: PartnerCase, to next: Next = .additional, _ flags: String...
    ) async throws -> ProgramRun {
        let (old, new) = (test.folder.path.appending("old").string, test.folder.path.appending(next.rawValue).string)
        let schemas = command == "check" ? [new, "--active", old, "SHIPSHAPE_LEDGER=none"] : [old, new]
        return try await Program.run(
            [command] + schemas + ["--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)"] + flags)
    }

    /// Compares the original and the partner collection, and moves the stored time of the comparison into the past.
    private func verify(_ test: PartnerCase, hoursAgo: Int64 = 0) async throws {
        try #require(try await test.run("verify").exitCode == 0)
        try await test.state.run([
            "update": "streams",
            "updates": [
                [
                    "q": [:],
                    "u": [["$set": ["verified.at": ["$subtract": ["$verified.at", .long(hoursAgo * 3_600_000)]]]]],
                ]
            ],
        ])
    }

    private static let verdicts = ["check", "diff"]

    @Test(arguments: verdicts) func aPartnerThatAMirrorKeepsEqualMakesItsDeploySafe(_ command: String) async throws {
        try await withPartner { test in
            try await verify(test)
            try await mirroring(test) {
                let found = try await run(command, test)
                #expect(found.exitCode == 0, "\(found.output)\(found.errors)")
                #expect(found.output.contains("compared at 20"), "\(found.output)")
                #expect(found.output.contains("and a mirror is running"), "\(found.output)")
                guard command == "check" else { return }
                #expect(found.output.contains("Safe to deploy"), "\(found.output)")
                #expect(found.output.contains("keeps its schema, because its partner"), "\(found.output)")
            }
        }
    }

    /// The schema of a partner collection without a running mirror is not safe to deploy.
    ///
    /// Without a mirror, later changes of clients would not be carried over. The partner collection was verified
    /// before. It is not safe even after a run of `mirror --once`, because that mirror ends.
    @Test(arguments: verdicts) func aPartnerWithoutAMirrorIsNotSafeToDeploy(_ command: String) async throws {
        try await withPartner { test in
            try await verify(test)
            for _ in 0..<2 {
                let found = try await run(command, test)
                #expect(found.exitCode == 1, "\(found.output)\(found.errors)")
                #expect(!found.output.contains("Safe to deploy"), "\(found.output)")
                #expect(found.output.contains("no mirror is running: run partner mirror"), "\(found.output)")
                try #require(try await test.run("mirror", "--once").exitCode == 0)
            }
        }
    }

    @Test(arguments: verdicts) func aMirrorThatLagsKeepsNothingEqual(_ command: String) async throws {
        try await withPartner { test in
            try await verify(test)
            try #require(try await test.run("mirror", "--once").exitCode == 0)
            try await test.state.run([
                "update": "streams",
                "updates": [
                    [
                        "q": [:],
                        "u": [
                            [
                                "$set": [
                                    "lease.end": ["$add": ["$$NOW", 60_000]],
                                    "times": ["source": .timestamp(1 << 32), "target": .timestamp(1 << 32)],
                                ]
                            ]
                        ],
                    ]
                ],
            ])
            let found = try await run(command, test)
            #expect(found.exitCode == 1, "\(found.output)\(found.errors)")
            #expect(found.output.contains("s behind: wait until it has caught up"), "\(found.output)")
        }
    }

    @Test(arguments: verdicts) func aChangeOfTheOriginalItselfStaysBreaking(_ command: String) async throws {
        try await withPartner { test in
            try await verify(test)
            try await mirroring(test) {
                for next in [Next.changed, .both] {
                    let found = try await run(command, test, to: next)
                    #expect(found.exitCode == 1, "\(found.output)\(found.errors)")
                    #expect(!found.output.contains("Safe to deploy"), "\(found.output)")
                    let text = (found.output + found.errors).replacing("\n", with: " ")
                    #expect(text.contains("itself: keep the schema of \(test.database.name).Task"), "\(text)")
                }
            }
        }
    }

    @Test func aPlanNeedsNoStepForWhatAPartnerCarriesOver() async throws {
        try await withPartner { test in
            try await verify(test)
            try await mirroring(test) {
                let found = try await run("plan", test, to: .changed)
                #expect(found.exitCode == 0, "\(found.output)\(found.errors)")
                #expect(found.output.contains("serves the change (job tasks)"), "\(found.output)")
            }
        }
    }

    private static let commands: [(String, String)] = [
        ("check", Next.additional.rawValue), ("check", Next.changed.rawValue), ("diff", Next.additional.rawValue),
        ("plan", Next.changed.rawValue),
    ]

    @Test(arguments: commands) func aPartnerThatWasNotComparedServesNothing(_ command: String, _ next: String)
        async throws
    {
        try await withPartner { test in
            try await mirroring(test) {
                let found = try await run(command, test, to: #require(Next(rawValue: next)))
                #expect(found.exitCode == 1)
                let text = found.output + found.errors
                #expect(text.contains("it was never compared: run partner verify"), "\(text)")
            }
        }
    }

    @Test(arguments: commands) func aComparisonOfTheDayBeforeYesterdayServesNothing(
        _ command: String, _ next: String
    ) async throws {
        try await withPartner { test in
            try await verify(test, hoursAgo: 48)
            let found = try await run(command, test, to: #require(Next(rawValue: next)))
            #expect(found.exitCode == 1)
            let text = found.output + found.errors
            #expect(text.contains("the last comparison is older than 24h"), "\(text)")
        }
    }

    @Test(arguments: commands) func aPartnerThatDiffersServesNothing(_ command: String, _ next: String) async throws {
        try await withPartner { test in
            try await test.database.delete("TaskV2", ["_id": .string("\(PartnerCase.id(3))")])
            try #require(try await test.run("verify", "--settle", "0s").exitCode == 1)
            let found = try await run(command, test, to: #require(Next(rawValue: next)))
            #expect(found.exitCode == 1)
            let text = found.output + found.errors
            #expect(text.contains("the last comparison found 1 difference"), "\(text)")
        }
    }

    @Test(arguments: ["check", "diff", "plan"]) func aPartnerOfAnotherCollectionServesNothing(
        _ command: String
    ) async throws {
        try await withPartner { test in
            try await verify(test)
            try await test.state.run([
                "update": "streams",
                "updates": [["q": [:], "u": ["$set": ["source": "app.Other", "target": "app.OtherV2"]]]],
            ])
            let found = try await run(command, test, to: .changed)
            #expect(found.exitCode == 1)
            #expect(!(found.output + found.errors).contains("the partner"), "\(found.output)\(found.errors)")
        }
    }

    /// A schema change that also changes the type of `tags` stays breaking, because no step of the partner job mentions
    /// `tags`.
    @Test(arguments: ["check", "diff", "plan"]) func aChangeThatThePartnerDoesNotCarryStaysBreaking(
        _ command: String
    ) async throws {
        try await withPartner { test in
            try await verify(test)
            try await mirroring(test) {
                let found = try await run(command, test, to: .changedMore)
                #expect(found.exitCode == 1)
                let text = found.output + found.errors
                #expect(
                    text.contains("does not serve the change of tags[]: its steps do not carry it over"), "\(text)")
            }
        }
    }

    @Test func aPartnerThatIsCutOverNeedsNoMirror() async throws {
        try await withPartner { test in
            try #require(try await test.run("mirror", "--once").exitCode == 0)
            try await verify(test)
            try #require(try await test.run("cutover", "--yes", "--quiet-for", "0s").exitCode == 0)
            try await verify(test, hoursAgo: 48)
            let found = try await run("check", test)
            #expect(found.exitCode == 0, "\(found.output)\(found.errors)")
            #expect(found.output.contains("cut over at 20"), "\(found.output)")
        }
    }

    @Test func jsonNamesThePartnerThatServes() async throws {
        try await withPartner { test in
            try await verify(test)
            try await mirroring(test) {
                let diff = try #require(
                    try BSONValue(extendedJSON: try await run("diff", test, to: .additional, "-o", "json").output)
                        .document)
                let change = try #require(diff["changes"]?.document?.values.first?.document)
                #expect(change["code"] == "type-added" && change["verdict"] == "served" && change["fails"] == false)
                let partner = try #require(change["partner"]?.document)
                #expect(partner["job"] == "tasks" && partner["target"] == .string("\(test.database.name).TaskV2"))
                let check = try #require(
                    try BSONValue(extendedJSON: try await run("check", test, to: .additional, "-o", "json").output)
                        .document
                )
                let parts = try #require(check["verdict"]?.document?["parts"]?.document)
                #expect(parts["change"]?.document?["worst"] == "served", "\(parts)")
                let collections = check["collections"]?.document?.values.compactMap(\.document) ?? []
                let original = collections.first { $0["collection"] == "Task" }
                #expect(original?["in_verdict"] == true)
                #expect(original?["partner"] == .string("\(test.database.name).TaskV2"))
            }
        }
    }
}
