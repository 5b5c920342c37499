import BSON
import Testing

@testable import Jobs

/// Tests a job for one of many databases of the same shape: the name of the job, and the collections that the job uses.
@Suite struct JobInDatabaseTests {
    private func job(_ steps: String...) throws -> Job {
        let text = "job: people-v2\ncollection: app.people\nsteps:\n" + steps.map { "  - \($0)\n" }.joined()
        return try JobFile.parse(text, path: "people.yml")
    }

    @Test func itIsCalledAfterTheDatabaseWhereThatCanBe() throws {
        let job = try job("unset: {field: age}")
        #expect(job.name(in: "tenant_7") == "people-v2.in-tenant_7")
        #expect(job.name(in: "tenant+7") == nil)
        #expect(job.name(in: String(repeating: "x", count: 87)) != nil)
        #expect(job.name(in: String(repeating: "x", count: 88)) == nil)
    }

    @Test func allCollectionsOfItsDatabaseMove() throws {
        let job = try job(
            "embed: {field: dog, from: app.dogs}", "extract: {field: home, to: app.homes, generate: uuid}",
            "map: {field: owner, lookup: app.owners}", "unset: {field: age}")
        #expect(job.elsewhere == nil)
        let moved = job.moved(to: "tenant_7")
        #expect(moved.namespace.description == "tenant_7.people" && moved.movedFrom == "app")
        #expect(
            moved.steps.flatMap(\.step.kind.namespaces).map(\.description) == [
                "tenant_7.dogs", "tenant_7.homes", "tenant_7.owners",
            ])
        // The job for another database keeps the text of the job file.
        #expect(moved.text == job.text)
        #expect(moved.moved(to: "app").steps.map(\.step) == job.steps.map(\.step))
        #expect(job.moved(to: "app").movedFrom == nil)
    }

    @Test func aCollectionOfAnotherDatabaseIsNamedWithItsPlace() throws {
        let other = try #require(try job("unset: {field: age}", "embed: {field: dog, from: zoo.dogs}").elsewhere)
        #expect(other.namespace.description == "zoo.dogs")
        #expect("\(other.location)" == "people.yml:5:5")
    }
}
