import Foundation
import Subprocess
import SystemPackage
import TestSupport
import Testing
import Yams

/// A workflow that `init --ci` wrote, run as it is in an environment with only the variables that the service sets.
struct WrittenWorkflow {
    /// A step of the workflow, or a job of GitLab's pipeline.
    struct Step {
        let name: String
        let script: String
    }

    let steps: [Step]

    /// Reads the workflow, without the steps that install the program.
    init(_ text: String, isGitHub: Bool) throws {
        steps = try Self.steps(text, isGitHub).filter { !$0.script.contains("apt-get install") }
    }

    private static func steps(_ text: String, _ isGitHub: Bool) throws -> [Step] {
        let root = try #require(try Yams.compose(yaml: text))
        if isGitHub {
            return (root["jobs"]?["schemas"]?["steps"]?.sequence ?? []).compactMap { step in
                step["run"]?.string.map { Step(name: step["name"]?.string ?? "", script: $0) }
            }
        }
        let before = (root[".schemas"]?["before_script"]?.sequence ?? []).compactMap(\.string)
            .filter { !$0.contains("apt-get") && !$0.contains("SHIPSHAPE_PACKAGE") }
        return (root.mapping ?? [:]).compactMap { key, job in
            guard let name = key.string, let script = job["script"]?.sequence else { return nil }
            return Step(name: name, script: (before + script.compactMap(\.string)).joined(separator: "\n"))
        }
    }

    /// Runs a script as a step.
    /// - Parameters:
    ///   - clone: the folder of the repository's clone, with `schemas`, the folder of its schemas.
    ///   - home: a folder for the program's link and for files of the user.
    ///   - dump: the path of a dump of the documents.
    static func run(
        _ script: String, in clone: FilePath, schemas: String, home: FilePath, dump: FilePath
    ) async throws -> (status: Int32, output: String) {
        let bin = home.appending("bin")
        try? FileManager.default.createDirectory(atPath: bin.string, withIntermediateDirectories: true)
        try? FileManager.default.createSymbolicLink(
            atPath: bin.appending("shipshape").string, withDestinationPath: Program.path.string)
        let variables: [Environment.Key: String] = [
            "PATH": "\(bin):/usr/bin:/bin", "HOME": home.string, "GITHUB_BASE_REF": "main",
            "GITHUB_WORKSPACE": clone.string, "GITHUB_STEP_SUMMARY": "/dev/null", "SCHEMAS": schemas,
            "DUMP": "file://\(dump)", "SHIPSHAPE_DUMP": "file://\(dump)", "BASE": "origin/main",
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_PROJECT_DIR": clone.string,
        ]
        let result = try await Subprocess.run(
            .path("/bin/bash"), arguments: ["-e", "-o", "pipefail", "-c", script], environment: .custom(variables),
            workingDirectory: clone, output: .string(limit: 1 << 18), error: .string(limit: 1 << 18))
        let status: Int32 = if case .exited(let code) = result.terminationStatus { Int32(code) } else { -1 }
        return (status, result.standardOutput + result.standardError)
    }
}
