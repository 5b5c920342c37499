import BSON
import SystemPackage
import TestSupport
import Testing

/// Tests that a check does not call a change safe after which clients no longer see values that documents hold.
@Suite struct RemovedFieldTests {
    /// Two versions of a schema: the newer one lacks `motto`, and has `slogan`, which could hold its values.
    enum Dialect: String, CaseIterable, Sendable {
        case prisma, validator

        var ending: String { self == .prisma ? "prisma" : "json" }

        func schema(_ field: String) -> String {
            switch self {
            case .prisma:
                """
                datasource db {
                  provider = "mongodb"
                }
                model Band {
                  id      Int @id @map("_id")
                  name    String
                  \(field) String?
                }

                """
            case .validator:
                """
                {"$jsonSchema": {"required": ["name"], "properties": {
                    "name": {"bsonType": "string"}, "\(field)": {"bsonType": "string"}}}}
                """
            }
        }
    }

    private struct Case {
        let test: BackfillCase
        let dialect: Dialect

        func check(_ settings: String = "") async throws -> ProgramRun {
            try test.write("shipshape.yml", settings.isEmpty ? "ledger: none\n" : "ledger: none\n\(settings)\n")
            return try await Program.run(
                [
                    "check", "new.\(dialect.ending)", "--active", "old.\(dialect.ending)", "--collection",
                    "\(test.database.name).Band", "--uri", test.uri,
                    "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
                ], in: test.folder)
        }
    }

    private func with(_ dialect: Dialect, _ body: (Case) async throws -> Void) async throws {
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("Band", count: 30) { number in
                var band: [(String, BSONValue)] = [("_id", .integer(number)), ("name", "n")]
                if number < 20 { band.append(("motto", "m")) }
                // A null holds nothing that could be lost.
                if number == 20 { band.append(("motto", .null)) }
                if number < 5 { band.append(("slogan", "m")) }
                return BSONDocument(band)
            }
            try test.write("old.\(dialect.ending)", dialect.schema("motto"))
            try test.write("new.\(dialect.ending)", dialect.schema("slogan"))
            try await body(Case(test: test, dialect: dialect))
        }
    }

    @Test(arguments: Dialect.allCases) func aRemovalThatMayBeARenameIsUnknown(_ dialect: Dialect) async throws {
        try await with(dialect) { subject in
            let open = try await subject.check()
            let field = "\(subject.test.database.name).Band.motto"
            #expect(open.exitCode == 1, "\(open.output)\(open.errors)")
            #expect(
                open.output.hasPrefix(
                    "It is unknown whether new clients still see the values of motto in 15 documents: it may be a "
                        + "rename.\n"), "\(open.output)")
            for line in ["renames: [\"\(field)=slogan\"]", "removed: [\"\(field)\"]"] {
                #expect(open.output.contains(line), "\(open.output)")
            }
        }
    }

    @Test(arguments: Dialect.allCases) func aRemovalThatIsStatedIsSafe(_ dialect: Dialect) async throws {
        try await with(dialect) { subject in
            let settled = try await subject.check("removed: [\(subject.test.database.name).Band.motto]")
            #expect(settled.exitCode == 0, "\(settled.output)\(settled.errors)")
            #expect(settled.output.hasPrefix("Safe to deploy: "), "\(settled.output)")
        }
    }

    @Test(arguments: Dialect.allCases) func aStatedRenameCountsTheValuesThatAreNotCopied(_ dialect: Dialect)
        async throws
    {
        try await with(dialect) { subject in
            let rename = "renames: [\(subject.test.database.name).Band.motto=slogan]"
            let lost = "Band: 15 documents hold motto and not slogan, its new name: copy the values before the deploy"
            let before = try await subject.check(rename)
            #expect(before.exitCode == 1, "\(before.output)\(before.errors)")
            #expect(before.output.contains(lost), "\(before.output)")
            try await subject.test.database.run([
                "update": "Band",
                "updates": [["q": ["motto": "m"], "u": [["$set": ["slogan": "$motto"]]], "multi": true]],
            ])
            let after = try await subject.check(rename)
            #expect(!after.output.contains("hold motto"), "\(after.output)")
        }
    }

    /// If no document holds only the removed field, nothing can be lost.
    @Test func aRemovalOfValuesThatNoDocumentHoldsIsSafe() async throws {
        try await with(.prisma) { subject in
            try await subject.test.database.run([
                "update": "Band", "updates": [["q": [:], "u": ["$unset": ["motto": ""]], "multi": true]],
            ])
            let run = try await subject.check()
            #expect(run.exitCode == 0, "\(run.output)\(run.errors)")
        }
    }
}
