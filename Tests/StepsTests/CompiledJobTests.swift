import BSON
import JobsSupport
import SchemaChange
import ServerSchema
import Testing

@testable import JobState
@testable import Jobs
@testable import Steps

@Suite struct CompiledJobTests {
    private func schema(_ text: String) throws -> ServerSchema {
        let namespace = try #require(Namespace("app.Person"))
        return try ServerSchema.read(text: text, namespace: namespace)
    }

    private func v1() throws -> ServerSchema {
        try schema(
            #"{"title": "Person", "properties": {"_id": {"bsonType": "int"}, "priority": {"bsonType": "string"}}}"#)
    }

    private func v2() throws -> ServerSchema {
        try schema(
            #"""
            {"title": "Human", "required": ["email"], "properties": {
                "_id": {"bsonType": "int"}, "priority": {"bsonType": "int"}, "email": {"bsonType": "string"}}}
            """#)
    }

    private func job(of field: String = "email") throws -> Job {
        try JobFile.parse(
            "{job: j, collection: app.Person, steps: [{default: {field: \(field), value: ''}}]}", path: "job.yml")
    }

    @Test func theNotesSayWhatTheJobIsFor() throws {
        let compiled = try CompiledJob(try job(), active: try v1(), next: try v2())
        #expect(compiled.changes.map(\.code) == [.typeRenamed, .propertyTypeChanged, .requiredAdded])
        #expect(
            compiled.notes(keepsJournal: true) == [
                "active → next: type-renamed app.Person (server: breaking, clients: breaking)",
                "active → next: property-type-changed priority (server: breaking, clients: breaking)",
                "active → next: required-added email (server: additive, clients: additive)",
            ])
    }

    /// If a job leads from one Prisma schema to another, its run cannot count the documents that clients can no longer
    /// read.
    ///
    /// A repair job has the same schema as its active and its next schema, so its run counts these documents.
    @Test(arguments: [("next: s.prisma", true), ("next: t.prisma", false)])
    func onlyAJobBetweenTwoPrismaSchemasHasUncountedDocuments(_ next: String, _ isRepair: Bool) throws {
        let text = """
            datasource db {
              provider = "mongodb"
            }
            model Person {
              id Int @id @map("_id")
              email String
            }
            """
        let schema = try PrismaSchema(files: [SchemaSource(path: "s.prisma", text: text)])
            .serverSchema(database: "app")
        let job = try JobFile.parse(
            "{job: j, collection: app.Person, schema: {active: s.prisma, \(next)}, "
                + "steps: [{default: {field: email, value: ''}}]}", path: "job.yml")
        let notes = try CompiledJob(job, active: schema, next: schema).notes(keepsJournal: true)
        #expect(job.repairsDocuments == isRepair)
        #expect(notes.contains { $0.contains("can still read the changed documents") } != isRepair, "\(notes)")
    }

    @Test(arguments: [(9, true), (13, false), (25, false)])
    func aStepThatMakesDocumentsNeedsAServerThatUndoCanRemoveThemFrom(_ wireVersion: Int, _ isRefused: Bool) throws {
        let making = try JobFile.parse(
            """
            job: j
            collection: app.Person
            steps:
              - default: {field: a, value: 1}
              - extract: {field: home, to: app.Home, generate: uuid}
            """, path: "job.yml")
        let compiled = try CompiledJob(making, active: nil, next: nil)
        let reported = Fixture.failure { try compiled.checkServer(wireVersion: wireVersion) }
        #expect(reported?.hasPrefix("job.yml:5:5: extract needs MongoDB 5.0 or later") ?? false == isRefused)
        let plain = try CompiledJob(try job(), active: nil, next: nil)
        #expect(Fixture.failure { try plain.checkServer(wireVersion: wireVersion) } == nil)
    }

    @Test func withoutBothSchemasThereIsNothingToCompare() throws {
        #expect(try CompiledJob(try job(), active: nil, next: try v2()).changes.isEmpty)
        #expect(try CompiledJob(try job(of: "priority"), active: try v1(), next: nil).changes.isEmpty)
    }
}
