import BSON
import Checking
import Testing

@testable import Backfill

/// The JSON Schema for editors says what the parser says.
@Suite struct JobSchemaTests {
    @Test func eachExampleFitsIt() throws {
        let schema = try JobSchema.compiled()
        for path in try ReadyJobs.examples {
            let file = try #require(try ReadyJobs.value(at: path).document)
            let violations = try schema.violations(in: file.view, includingInfo: false)
            #expect(violations.map(\.description) == [], "\(path)")
        }
    }

    @Test(arguments: [
        #"{"job": "a b", "collection": "b.c", "steps": [{"copy": {"from": "d", "to": "e"}}]}"#,
        #"{"job": "a", "collection": "b", "steps": [{"copy": {"from": "d", "to": "e"}}]}"#,
        #"{"job": "a", "collection": "b.c", "steps": []}"#,
        #"{"job": "a", "collection": "b.c", "steps": [{"copy": {"from": "d"}}]}"#,
        #"{"job": "a", "collection": "b.c", "steps": [{"copy": {"from": "d", "to": "e", "into": "f"}}]}"#,
        #"{"job": "a", "collection": "b.c", "steps": [{"copy": {"from": "d", "to": "e"}}], "version": 2}"#,
        #"{"job": "a", "collection": "b.c", "steps": [{"copy": {"from": "d", "to": "e"}}], "limits": {"nice": "x"}}"#,
    ])
    func aJobThatTheParserRefusesDoesNotFitIt(_ text: String) throws {
        let job = try BSONDocument(extendedJSON: text)
        #expect(try JobSchema.compiled().check(job.view) == .certain)
        #expect(throws: JobError.self) { try JobFile.parse(text, path: "j.yml") }
    }

    @Test func itAllowsTheKeysThatTheParserAllowsAndNoOther() throws {
        for place in try JobSchema.places() {
            let refusal = try #require(
                Fixture.failure { try JobFile.parse(place.jobWithUnknownKey, path: "j.yml") }, "\(place.name)")
            let list = try #require(refusal.split(separator: "; keys: ").dropFirst().first, "\(refusal)")
            let known = list.split(separator: ", ").map(String.init)
            #expect(known.sorted() == place.keys.sorted(), "\(place.name)")
        }
    }

    @Test func itKnowsEachLimitThatTuneKnows() throws {
        let places = try JobSchema.places()
        let limits = try #require(places.first { $0.name == "limits" })
        let names = limits.keys.flatMap { limit in
            places.first { $0.name == limit && $0.name != "schema" }.map { $0.keys.map { "\(limit).\($0)" } } ?? [limit]
        }
        #expect(Job.Limits().entries.map(\.name).sorted() == names.sorted())
    }
}
