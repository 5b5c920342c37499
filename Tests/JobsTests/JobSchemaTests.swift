import BSON
import Checking
import JobsSupport
import Testing

@testable import Jobs

/// Tests that the JSON Schema of job files, which editors use, agrees with the parser.
@Suite struct JobSchemaTests {
    @Test func eachExampleFitsIt() throws {
        let schema = try JobSchema.compiled()
        for path in try ReadyJobs.examples {
            let file = try #require(try ReadyJobs.value(at: path).document)
            let violations = try schema.violations(in: file.view, includingInfo: false)
            #expect(violations.map(\.description) == [], "\(path)")
        }
    }

    @Test(arguments: refused)
    func aJobThatTheParserRefusesDoesNotFitIt(_ text: String) throws {
        let job = try BSONDocument(extendedJSON: text)
        #expect(try JobSchema.compiled().check(job.view) == .certain)
        #expect(throws: JobError.self) { try JobFile.parse(text, path: "j.yml") }
    }

    private static var refused: [String] {
        var all = jobs
        for step in steps { all.append(job(ofStep: step)) }
        for limit in limits { all.append(job(ofLimit: limit)) }
        return all
    }

    private static let jobs: [String] = [
        #"{"job": "a b", "collection": "b.c", "steps": [{"copy": {"from": "d", "to": "e"}}]}"#,
        #"{"job": "a", "collection": "b", "steps": [{"copy": {"from": "d", "to": "e"}}]}"#,
        #"{"job": "a", "collection": "b.c", "steps": []}"#,
        #"{"job": "a", "collection": "b.c", "steps": [{"copy": {"from": "d"}}]}"#,
        #"{"job": "a", "collection": "b.c", "steps": [{"copy": {"from": "d", "to": "e", "into": "f"}}]}"#,
        #"{"job": "a", "collection": "b.c", "steps": [{"copy": {"from": "d", "to": "e"}}], "version": 2}"#,
        #"{"job": "a", "collection": "b.c", "steps": [{"copy": {"from": "d", "to": "e"}}], "limits": {"nice": "x"}}"#,
    ]

    private static func job(ofStep step: String) -> String {
        "{\"job\": \"a\", \"collection\": \"b.c\", \"steps\": [" + step + "]}"
    }

    private static func job(ofLimit limit: String) -> String {
        let step = #"{"copy": {"from": "d", "to": "e"}}"#
        return "{\"job\": \"a\", \"collection\": \"b.c\", \"steps\": [" + step + "], \"limits\": {" + limit + "}}"
    }

    /// Steps with a missing key, with keys that exclude each other, or with a value that is not allowed.
    private static let steps: [String] = [
        #"{"default": {"field": "d"}}"#, #"{"default": {"field": "d", "value": 1, "generate": "uuid"}}"#,
        #"{"split": {"field": "d", "into": ["e", "f"]}}"#,
        #"{"split": {"field": "d", "into": ["e", "f"], "by": " ", "regex": "(?<e>.)"}}"#,
        #"{"split": {"field": "d", "into": ["e", "f"], "by": " ", "join": "{e} {f}"}}"#,
        #"{"convert": {"field": "d", "to": "long", "keep": []}}"#,
        #"{"convert": {"field": "d", "to": "long", "keep": ["uuid"]}}"#,
        #"{"map": {"field": "d"}}"#,
        #"{"map": {"field": "d", "values": {"1": 2}, "lookup": "e.f"}}"#,
        #"{"map": {"field": "d", "values": {"1": 2}, "key": "e"}}"#,
        #"{"map": {"field": "d", "lookup": "e.f", "unmapped": "keep"}}"#,
        #"{"extract": {"field": "d", "to": "e.f"}}"#,
        #"{"extract": {"field": "d", "to": "e.f", "generate": "uuid", "idFrom": "g"}}"#,
        #"{"embed": {"field": "d", "from": "e.f", "keep": ["g"], "omit": ["h"]}}"#,
    ]

    private static let limits: [String] = [
        #""chunk": {"time": "9ms"}"#, #""chunk": {"time": "10001ms"}"#, #""chunk": {"time": "11s"}"#,
        #""chunk": {"time": "1m"}"#, #""chunk": {"documents": 1.5}"#, #""chunk": {"bytes": 1.5}"#,
        #""reserve": 1.5"#, #""reserve": "101%""#, #""unsynced": 0"#, #""tickets": "0%""#, #""lag": "0s""#,
    ]

    @Test(arguments: ["10ms", "9999ms", "10000ms", "1s", "10s"]) func theWholeRangeOfTimeFitsIt(_ time: String) throws {
        let text = Self.job(ofLimit: "\"chunk\": {\"time\": \"\(time)\"}, \"reserve\": 0")
        let job = try BSONDocument(extendedJSON: text)
        #expect(try JobSchema.compiled().check(job.view) != .certain)
        _ = try JobFile.parse(text, path: "j.yml")
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
        #expect(Limit.all.flatMap { [$0.name] + ($0.alias.map { [$0] } ?? []) }.sorted() == names.sorted())
    }
}
