import BSON
import Foundation
import JobsSupport
import LocatedYAML
import Testing

@testable import JobState
@testable import Jobs
@testable import Steps

@Suite struct ReadyJobsTests {
    @Test func theExampleOfEveryKeyHoldsTheDefaultsThatItStates() throws {
        let job = try JobFile.read(at: "\(ReadyJobs.folder)/examples/every-key.yml")
        #expect(job.limits == Job.Limits())
    }

    @Test func theExampleOfEveryKeyHoldsEveryKindOfStep() throws {
        let job = try JobFile.read(at: "\(ReadyJobs.folder)/examples/every-key.yml")
        let lines = job.text.split(separator: "\n")
        for kind in Step.kinds {
            let entry = "  - \(kind.key): "
            let isNamed = lines.contains { $0.hasPrefix(entry) }
            #expect(isNamed, "\(entry)")
        }
    }

    @Test func everyKindOfStepHasAReadyJobOfItsName() throws {
        let names = try ReadyJobs.examples.map { $0.split(separator: "/").last.map(String.init) ?? "" }
        for kind in Step.kinds {
            #expect(names.contains("\(kind.key).yml"), "jobs/examples/\(kind.key).yml")
        }
        for path in try ReadyJobs.examples {
            let job = try JobFile.read(at: path)
            #expect(try CompiledJob(job, active: nil, next: nil).job.name == job.name)
            #expect(job.text.hasPrefix("# yaml-language-server: $schema=../job.schema.json\n"), "\(path)")
        }
    }

    @Test func thePageNamesEveryKeyThatTheSchemaKnows() throws {
        let page = try String(contentsOfFile: "\(ReadyJobs.folder)/FORMAT.md", encoding: .utf8)
        for place in try JobSchema.places() {
            for key in place.keys { #expect(page.contains("`\(key)`"), "\(place.name): \(key)") }
        }
    }
}
