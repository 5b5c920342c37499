import BSON
import Foundation
import LocatedYAML
import Testing
import Yams

@testable import Backfill

/// The ready jobs below `jobs/`.
enum ReadyJobs {
    /// The folder `jobs`.
    static let folder = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/jobs"

    /// The paths of the examples, in their order.
    static var examples: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: "\(folder)/examples").sorted()
                .map { "\(folder)/examples/\($0)" }
        }
    }

    /// A YAML file as a JSON Schema sees it: what YAML 1.2 takes for a number, a bool or null is one.
    static func value(at path: String) throws -> BSONValue {
        try value(YAMLFile.root(of: YAMLFile.text(at: path), path: path).node, path)
    }

    private static func value(_ node: Node, _ path: String) throws -> BSONValue {
        switch node {
        case .mapping(let mapping):
            .object(
                BSONDocument(try mapping.map { ($0.key.scalar?.string ?? "", try value($0.value, path)) }))
        case .sequence(let sequence): .array(of: try sequence.map { try value($0, path) })
        default: try JobLiteral.value(YAMLNode(node: node, file: path))
        }
    }
}

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
