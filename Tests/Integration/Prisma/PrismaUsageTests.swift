import TestSupport
import Testing

/// Tests the errors for a Prisma schema that a command cannot use, or cannot use with the given flags.
@Suite struct PrismaUsageTests {
    private static let schema = """
        datasource db {
          provider = "mongodb"
        }
        model User {
          id Int @id @map("_id")
          name String
        }
        """
    private static let nowhere = "mongodb://127.0.0.1:1/"

    private func run(_ arguments: [String], _ schema: String = schema) async throws -> ProgramRun {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(schema, to: "schema.prisma")
        try folder.write(CommandLineFolder.person, to: "person.json")
        try folder.write(#"{"$jsonSchema": {"bsonType": "object"}}"#, to: "validator.json")
        return try await Program.run(arguments, in: folder.path)
    }

    @Test(arguments: [
        ["check", "schema.prisma", "--uri", nowhere], ["plan", "schema.prisma", "schema.prisma", "--out", "jobs"],
    ])
    func theDatabaseMustBeKnown(_ arguments: [String]) async throws {
        let run = try await run(arguments)
        #expect(run.exitCode == 64, "\(run.errors)")
        #expect(
            run.errors.contains("no database (write database: NAME into shipshape.yml, or set SHIPSHAPE_DATABASE=NAME"),
            "\(run.errors)")
    }

    @Test(arguments: [["diff", "schema.prisma", "schema.prisma"], ["lint", "schema.prisma"]])
    func comparingAndLintingNeedsNoDatabase(_ arguments: [String]) async throws {
        let run = try await run(arguments)
        #expect(run.exitCode == 0, "\(run.errors)")
    }

    /// With a connection string, `diff` counts documents on the server, and fails here, because no server listens.
    ///
    /// `lint` takes only the name of the database from a connection string.
    @Test(
        arguments: [
            (["lint", "schema.prisma", "SHIPSHAPE_DATABASE=app"], 0),
            (["lint", "schema.prisma", "--uri", nowhere + "app"], 0),
            (["diff", "schema.prisma", "schema.prisma", "--uri", nowhere + "app"], 69),
            (["diff", "schema.prisma", "schema.prisma", "--collection", "app.User"], 0),
        ] as [([String], Int32)])
    func theDatabaseIsThatOfAFlagOrOfTheConnectionString(_ arguments: [String], _ status: Int32) async throws {
        let run = try await run(arguments)
        #expect(run.exitCode == status, "\(run.errors)")
    }

    @Test func theURLOfTheSchemaNamesTheDatabase() async throws {
        let schema = Self.schema.replacing(
            "\"mongodb\"", with: "\"mongodb\"\n  url = \"mongodb://127.0.0.1/shop?replicaSet=r\"")
        let run = try await run(["lint", "schema.prisma", "-o", "json"], schema)
        #expect(run.exitCode == 0, "\(run.errors)")
        let unmapped = try await self.run(
            ["lint", "schema.prisma", "-o", "json"], schema.replacing(" @map(\"_id\")", with: ""))
        #expect(unmapped.exitCode == 1 && unmapped.output.contains("\"shop.User\""), "\(unmapped.output)")
    }

    @Test(arguments: ["check", "plan"]) func theURLOfTheSchemaNamesNoDeployment(_ command: String) async throws {
        let schema = Self.schema.replacing(
            "\"mongodb\"", with: "\"mongodb\"\n  url = \"mongodb://127.0.0.1/shop?replicaSet=r\"")
        let words = command.split(separator: " ").map(String.init)
        let run = try await run(words + ["schema.prisma"], schema)
        #expect(run.exitCode == 64, "\(run.errors)")
        #expect(run.errors.contains("no deployment is named"), "\(run.errors)")
        let help = try await Program.run(["explain", "connection"]).output.split(whereSeparator: \.isWhitespace)
        #expect(help.joined(separator: " ").contains("No command connects by that url"))
    }

    /// Each error has a line of its own, in the order of the file.
    @Test func allErrorsAreListed() async throws {
        let run = try await run(
            ["lint", "schema.prisma", "SHIPSHAPE_DATABASE=app"],
            Self.schema.replacing("String", with: "Strin").replacing("Int @id", with: "Int @idd"))
        #expect(run.exitCode == 65)
        let messages = run.errorLines.filter { $0.hasPrefix("shipshape: ") }
        let places = messages.map { $0.split(separator: ": ").dropFirst().first.map(String.init) }
        #expect(places == ["schema.prisma:4:7", "schema.prisma:5:11", "schema.prisma:6:8"], "\(run.errors)")
    }

    @Test func aSchemaOfSyncIsNotCompared() async throws {
        let run = try await run([
            "check", "schema.prisma", "--active", "person.json", "--collection", "app.User", "--uri", Self.nowhere,
        ])
        #expect(run.exitCode == 64, "\(run.errors)")
        #expect(run.errors.contains("a Prisma schema"), "\(run.errors)")
    }

    @Test(arguments: [
        ["schema", "models", "schema.prisma", "--language", "swift", "--out", "Models"],
        ["ledger", "follow", "schema.prisma", "--uri", nowhere], ["ledger", "show", "schema.prisma", "--uri", nowhere],
    ])
    func commandsOfSyncRefuseIt(_ arguments: [String]) async throws {
        let run = try await run(arguments)
        #expect(run.exitCode == 64, "\(run.errors)")
        #expect(run.errors.contains("Prisma"), "\(run.errors)")
    }
}
