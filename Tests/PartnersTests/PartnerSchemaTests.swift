import BSON
import Checking
import Foundation
import Jobs
import JobsSupport
import LocatedYAML
import Testing

@testable import Partners

/// Tests that the example partner jobs fit their JSON Schema, which editors use, and that this schema agrees with the
/// parser.
@Suite struct PartnerSchemaTests {
    private static var examples: [String] {
        let folder = "\(ReadyJobs.folder)/partners"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.sorted().map { "\(folder)/\($0)" }
    }

    @Test(arguments: examples) func eachReadyJobFitsItAndCompiles(_ path: String) throws {
        let file = try #require(try ReadyJobs.value(at: path).document)
        let violations = try JobSchema.compiled("partner").violations(in: file.view, includingInfo: false)
        #expect(violations.map(\.description) == [])
        let job = try PartnerJob.read(at: path)
        #expect(job.text.hasPrefix("# yaml-language-server: $schema=../partner.schema.json\n"))
        _ = try Partner(job, source: nil, target: nil, assuming: CheckOptions())
    }

    @Test func oneReadyJobHoldsEveryKindOfStepThatAPartnerTakes() throws {
        #expect(Self.examples.count == 2)
        let job = try PartnerJob.read(at: "\(ReadyJobs.folder)/partners/every-step.yml")
        let held = Set((job.forward + job.reverse).map { type(of: $0.step.kind).key })
        #expect(held == Set(Step.kinds.map { $0.key }).subtracting(["embed", "extract"]))
    }

    @Test func itNamesEveryKeyAndNoOther() throws {
        let properties = try #require(try JobSchema.document(of: "partner")["properties"]?.document)
        #expect(Set(try properties.elements().map(\.name)) == Set(PartnerJob.keys))
    }

    /// The JSON Schema of partner jobs has the limits and steps of the JSON Schema of jobs, except for steps and keys
    /// that partners do not support.
    @Test func itsStepsAndLimitsAreThoseOfAJob() throws {
        let job = try #require(try JobSchema.document()["properties"]?.document)
        let partner = try #require(
            try JobSchema.inlined(JobSchema.document(of: "partner"))["properties"]?.document)
        #expect(partner["limits"] == job["limits"])
        func steps(_ schema: BSONDocument, _ key: String) throws -> [(name: String, value: BSONValue)] {
            let items = schema[key]?.document?["items"]?.document
            return try #require(try items?["properties"]?.document?.elements())
        }
        for way in ["forward", "reverse"] {
            let kinds = try steps(partner, way)
            let expected = try steps(job, "steps").filter { !["embed", "extract", "review", "once"].contains($0.name) }
            #expect(kinds.map(\.name) == expected.map(\.name))
            for (kind, whole) in zip(kinds, expected) {
                let keys = try kind.value.document?["properties"]?.document?.elements().map(\.name) ?? []
                let all = try whole.value.document?["properties"]?.document?.elements().map(\.name) ?? []
                #expect(keys == all.filter { $0 != "once" }, "\(kind.name)")
            }
        }
    }

    @Test(arguments: [
        #"{"partner": "a b", "source": "c.d", "target": "c.e"}"#,
        #"{"partner": "a", "source": "c", "target": "c.e"}"#,
        #"{"partner": "a", "source": "c.d"}"#,
        #"{"partner": "a", "source": "c.d", "target": "c.e", "id": {"from": "int", "to": "objectId"}}"#,
        #"{"partner": "a", "source": "c.d", "target": "c.e", "id": {"from": "string"}}"#,
        #"{"partner": "a", "source": "c.d", "target": "c.e", "only": {"source": ["_id"]}}"#,
        #"{"partner": "a", "source": "c.d", "target": "c.e", "only": {"target": ["f.g"]}}"#,
        #"{"partner": "a", "source": "c.d", "target": "c.e", "drops": "never"}"#,
        #"{"partner": "a", "source": "c.d", "target": "c.e", "forward": [{"embed": {"field": "f", "from": "c.g"}}]}"#,
        #"{"partner": "a", "source": "c.d", "target": "c.e", "reverse": [{"extract": {"field": "f", "to": "c.g"}}]}"#,
        #"{"partner": "a", "source": "c.d", "target": "c.e", "forward": [{"expression": {"field": "f", "value": 1, "once": "g"}}]}"#,
        #"{"partner": "a", "source": "c.d", "target": "c.e", "forward": [{"copy": {"from": "f", "to": "g", "whenPresent": "refresh"}}]}"#,
        #"{"partner": "a", "source": "c.d", "target": "c.e", "forward": [{"wrap": {"field": "f"}, "review": "r"}]}"#,
        #"{"partner": "a", "source": "c.d", "target": "c.e", "steps": []}"#,
    ])
    func theSchemaRefusesWhatTheParserRefuses(_ text: String) throws {
        let job = try BSONDocument(extendedJSON: text)
        #expect(try JobSchema.compiled("partner").check(job.view) == .certain)
        #expect(throws: JobError.self) { try PartnerJob.parse(text, path: "p.yml") }
    }
}
