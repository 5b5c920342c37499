import BSON
import Checking
import Jobs
import JobsSupport
import Planning
import Reporting
import SchemaChange
import ServerSchema
import Testing

/// Tests the texts of planned jobs: their headers, and drafts, which a user turns into jobs.
@Suite struct PlannedTextTests {
    /// Returns a Prisma schema of the database `app` with a model `T` that has these fields besides its `_id`.
    private static func schema(_ fields: String, _ more: String = "") throws -> ServerSchema {
        let text = """
            datasource db {
              provider = "mongodb"
            }
            model T {
              id Int @id @map("_id")
              \(fields)
            }
            \(more)
            """
        return try PrismaSchema(files: [SchemaSource(path: "schema.prisma", text: text)])
            .serverSchema(database: "app")
    }

    private static let tiers = "enum Tier {\n  free\n  pro\n}"

    /// Returns the plan that repairs these documents, after a check against a Prisma schema.
    private static func repairs(_ schema: ServerSchema, _ documents: [BSONDocument]) throws -> SchemaPlan {
        var tally = Tally(CompiledSchema(schema.collections[0], of: schema))
        for document in documents { try tally.add(document.view) }
        let report = CheckReport(
            source: "test", collections: [CheckReport.Collection(tally)], ledger: nil, duration: .zero)
        return try Planner(from: schema, to: schema).repairs(of: report, includesPossible: true)
    }

    private static func files(_ plan: SchemaPlan, old: String, new: String) -> [PlanFile] {
        plan.jobs.map { job in
            PlanFile(
                job, path: "jobs/\(job.name).yml", old: old, new: new, oldPath: old, newPath: new, follower: nil)
        }
    }

    /// Returns the text of each planned job's file.
    private static func texts(_ plan: SchemaPlan, old: String, new: String) throws -> [String] {
        let collection = try #require(plan.collections.first)
        return files(plan, old: old, new: new).map { PlanYAML($0, of: collection).text }
    }

    /// Returns the text with one comment mark removed from each line, from the line of the job's name on.
    private static func uncommented(_ text: String) -> String {
        var isBelow = false
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line -> String in
            isBelow = isBelow || line.hasPrefix("# job:")
            guard isBelow, let mark = line.firstIndex(of: "#") else { return String(line) }
            let rest = line[line.index(after: mark)...]
            return String(line[..<mark]) + String(rest.hasPrefix(" ") ? rest.dropFirst() : rest)
        }
        return lines.joined(separator: "\n")
    }

    @Test func aDraftIsAJobAfterOneMarkOfEachLineIsRemoved() throws {
        let schema = try Self.schema("tier Tier", Self.tiers)
        let plan = try Self.repairs(schema, [["_id": 1, "tier": "gold"]])
        #expect(plan.jobs.map(\.isDraft) == [true])
        let text = try #require(try Self.texts(plan, old: "s.prisma", new: "s.prisma").first)
        #expect(JobFile.isDraft(text))
        #expect(text.contains("\n  ## not-in-enum: tier, 1 document"), "\(text)")
        let job = try JobFile.parse(Self.uncommented(text), path: "draft.yml")
        #expect(job.steps.map(\.step.kind.description) == ["map values of tier by a table of 1"])
        #expect(job.repairsDocuments)
    }

    @Test func aDraftIsRefusedWithTheLinesToUncomment() throws {
        let schema = try Self.schema("tier Tier", Self.tiers)
        let plan = try Self.repairs(schema, [["_id": 1, "tier": "gold"]])
        let text = try #require(try Self.texts(plan, old: "s.prisma", new: "s.prisma").first)
        let line = try #require(
            text.split(separator: "\n", omittingEmptySubsequences: false).firstIndex {
                $0.hasPrefix("# job:")
            })
        let error = Fixture.failure { try JobFile.parse(text, path: "draft.yml") }
        #expect(error?.hasPrefix("draft.yml:\(line + 1):1: the file is a draft: ") == true, "\(text)")
    }

    @Test func anEarlyJobRecordsTheDeployWithoutAQuestionAndChecksTheNewerSchemaAlone() throws {
        let plan = try Planner(from: try Self.schema("n String?"), to: try Self.schema("n String")).plan()
        let text = try #require(try Self.texts(plan, old: "v1.prisma", new: "v2.prisma").first)
        let name = try #require(plan.jobs.first?.name)
        #expect(text.contains("and record it: shipshape job deployed --yes jobs/\(name).yml\n"), "\(text)")
        #expect(text.contains("Check what is left: SHIPSHAPE_DATABASE=app shipshape check v2.prisma\n"), "\(text)")
    }

    @Test func aJobAfterTheDeployChecksTheNewerSchemaAlone() throws {
        let plan = try Planner(from: try Self.schema("n Int"), to: try Self.schema("n String")).plan()
        #expect(plan.jobs.map(\.stage) == [.afterDeploy])
        let text = try #require(try Self.texts(plan, old: "v1.prisma", new: "v2.prisma").first)
        #expect(text.contains("(`shipshape job deployed --yes FILE`)"), "\(text)")
        #expect(text.contains("Then check what is left: SHIPSHAPE_DATABASE=app shipshape check v2.prisma\n"), "\(text)")
        #expect(!text.contains("--active"), "\(text)")
    }

    /// A list of two elements in a `Bytes` field cannot be unwrapped, and no other step makes a value of type `Bytes`.
    @Test func anEntryWithoutAStepNamesItsField() throws {
        let plan = try Self.repairs(try Self.schema("blob Bytes"), [["_id": 1, "blob": ["a", "b"]]])
        let result = PlanResult(
            plan, files: Self.files(plan, old: "s.prisma", new: "s.prisma"), texts: [], isWritten: true)
        let findings = result.report.sections.flatMap(\.findings)
        #expect(!findings.isEmpty)
        #expect(findings.allSatisfy { $0.message.contains("blob") }, "\(findings.map(\.message))")
    }
}
