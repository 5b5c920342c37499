import BSON
import Concurrency
import JobReports
import JobState
import Running
import ServerSchema
import Testing

@testable import Backfill
@testable import Jobs
@testable import Steps

@Suite struct DeployRefusalTests {
    /// A job that must wait until its schema is deployed is refused with words of the schema's dialect.
    ///
    /// Under a Prisma schema, the error therefore does not mention sync.
    @Test func aRefusalBeforeTheDeployOfAPrismaSchemaDoesNotSpeakOfSync() throws {
        let text = """
            datasource db {
              provider = "mongodb"
            }
            model T {
              id Int @id @map("_id")
            }
            """
        let schema = try PrismaSchema(files: [SchemaSource(path: "s.prisma", text: text)])
            .serverSchema(database: "app")
        let job = try JobFile.parse(
            "{job: j, collection: app.T, schema: {active: v1.prisma, next: ../v2.prisma}, requires: deployed, "
                + "steps: [{unset: {field: nick}}]}", path: "j.yml")
        let runner = BackfillRunner(
            try CompiledJob(job, active: schema, next: schema), options: RunOptions(), stop: StopSignal(),
            events: { _ in })
        var plan = BackfillPlan(
            job: "j", namespace: Namespace(database: "app", collection: "T"),
            documents: 1, target: Target(uuid: nil, checksUUID: false, averageSize: nil, validator: nil), needing: 1,
            before: [], after: [], resumesAfter: nil,
            notes: [])
        plan.deploy = .awaited
        let error = #expect(throws: RunError.self) { try runner.checkDeploy(of: plan) }
        let message = error?.message ?? ""
        #expect(message.contains("when all clients use v2.prisma, or none runs, run the job with --deployed"))
        #expect(message.hasSuffix("shipshape job deployed --yes FILE") && !message.contains("sync"), "\(message)")
    }
}
