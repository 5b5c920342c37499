package import BSON
import Foundation
import Jobs
import LocatedYAML
import Yams

/// The example jobs below `jobs/`.
package enum ReadyJobs {
    /// The path of the repository's folder `jobs`.
    package static let folder = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/jobs"

    /// The paths of the example jobs, sorted.
    package static var examples: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: "\(folder)/examples").sorted()
                .map { "\(folder)/examples/\($0)" }
        }
    }

    /// Reads a YAML file into the values that a JSON Schema checks; numbers, Booleans and nulls are those of YAML 1.2.
    package static func value(at path: String) throws -> BSONValue {
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
