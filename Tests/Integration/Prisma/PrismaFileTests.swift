import BSON
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Tests the files around a Prisma schema: copies of it, its configuration, and validators that it is compared with.
@Suite struct PrismaFileTests {
    private static let model = """
        model User {
          id    String   @id @default(auto()) @map("_id") @db.ObjectId
          email String
          age   Int?
          tags  String[]
        }
        """
    private static let source = "datasource db {\n  provider = \"mongodb\"\n}\n"

    private func lint(_ path: String) async throws -> ProgramRun {
        try await Program.run(["lint", path, "SHIPSHAPE_DATABASE=app"])
    }

    @Test func aCopyInTheOutputOfAGeneratorIsNotRead() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let generator = "generator client {\n  provider = \"prisma-client\"\n  output = \"./generated/client\"\n}\n"
        let schema = Self.source + generator + Self.model
        try folder.write(schema, to: "prisma/schema.prisma")
        try folder.write(schema, to: "prisma/generated/client/schema.prisma")
        try folder.write(schema, to: "prisma/node_modules/.prisma/client/schema.prisma")
        try folder.write(schema, to: "prisma/node_modules/pkg/schema.prisma")
        let path = folder.path.appending("prisma").string
        let run = try await lint(path)
        #expect(run.exitCode == 0, "\(run.output)\(run.errors)")

        // A file beside the copy, which no generator names, is a part of the schema.
        try folder.write(
            "model Other {\n  id String @id @map(\"_id\")\n  x Foo\n}\n", to: "prisma/generated/other.prisma")
        let second = try await lint(path)
        #expect(second.exitCode == 65 && second.errors.contains("generated/other.prisma:3"), "\(second.errors)")
    }

    @Test func theConfigurationNamesTheSchema() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write("export default defineConfig({ schema: \"db/main.prisma\" })\n", to: "prisma.config.ts")
        let run = try await lint(folder.path.appending("prisma.config.ts").string)
        #expect(run.exitCode == 65)
        #expect(run.errors.contains("holds no schema"), "\(run.errors)")
        #expect(run.errors.contains(folder.path.appending("db/main.prisma").string), "\(run.errors)")
    }

    /// A default that MongoDB does not have is a finding of lint, and every other command reads the schema.
    @Test func dbgeneratedIsAFinding() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        let schema = Self.source + Self.model.replacing("age   Int?", with: "age   Int @default(dbgenerated())")
        try folder.write(schema, to: "a.prisma")
        let path = folder.path.appending("a.prisma").string
        let run = try await lint(path)
        #expect(run.exitCode == 1 && run.output.contains("dbgenerated()"), "\(run.output)\(run.errors)")
        let diff = try await Program.run(["diff", path, path, "--offline", "SHIPSHAPE_DATABASE=app"])
        #expect(diff.exitCode == 0, "\(diff.errors)")
    }

    /// The two sides of a model and a validator: what each accepts and the other does not, with a document.
    @Test func aSchemaAndAValidatorAreCompared() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(Self.source + Self.model, to: "s.prisma")
        try folder.write(
            """
            {"$jsonSchema": {"bsonType": "object", "required": ["_id", "email"], "properties": {
              "_id": {"bsonType": "objectId"}, "email": {"bsonType": "string"}, "age": {"bsonType": ["int", "string"]}
            }}}
            """, to: "v.json")
        let (prisma, validator) = (folder.path.appending("s.prisma").string, folder.path.appending("v.json").string)
        let options = ["--collection", "app.User", "--offline", "SHIPSHAPE_DATABASE=app"]

        // The client writes a long, or null, as age; the validator takes neither.
        let written = try await Program.run(["diff", prisma, validator] + options)
        #expect(written.exitCode == 1, "\(written.output)\(written.errors)")
        #expect(written.output.contains("age"), "\(written.output)")
        #expect(written.output.contains("stands for the documents that its client writes"), "\(written.output)")
        #expect(written.output.contains("\(validator) accepts {"), "\(written.output)")
        #expect(written.output.contains("\(prisma) accepts {"), "\(written.output)")

        // The client cannot read the string as age that the validator takes.
        let read = try await Program.run(["diff", validator, prisma] + options)
        #expect(read.exitCode == 1, "\(read.output)\(read.errors)")
        #expect(read.output.contains("stands for the documents that its client reads"), "\(read.output)")
        #expect(read.output.contains("\"age\":\"a\"") || read.output.contains("\"age\" : \"a\""), "\(read.output)")
        // The validator stays, and the client is what is deployed.
        let plan = try await Program.run(["plan", validator, prisma] + options)
        for text in ["collMod", "validationAction", "terminate"] {
            #expect(!"\(read.output)\(plan.output)".contains(text), "\(read.output)\(plan.output)")
        }
    }

    /// Nothing is breaking between a schema and the validator that `schema import` makes of it.
    @Test func theImportedValidatorAcceptsWhatTheClientReads() async throws {
        let folder = try CommandLineFolder()
        defer { folder.remove() }
        try folder.write(Self.source + Self.model, to: "s.prisma")
        let (prisma, validator) = (folder.path.appending("s.prisma").string, folder.path.appending("v.json").string)
        let imported = try await Program.run(["schema", "import", prisma, "--out", validator])
        #expect(imported.exitCode == 0, "\(imported.errors)")
        // The validator also accepts what the client reads and does not write, so a note in the other direction has it.
        for pair in [[validator, prisma], [prisma, validator]] {
            let run = try await Program.run(
                ["diff"] + pair + ["--collection", "app.User", "--offline", "SHIPSHAPE_DATABASE=app"])
            #expect(run.exitCode == 0, "\(run.output)\(run.errors)")
            #expect(run.output.contains("\(validator) accepts {") == (pair[0] == prisma), "\(run.output)")
        }
    }
}
