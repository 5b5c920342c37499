import Foundation
import Subprocess
import SystemPackage
import TestSupport

/// The built program, run as a user runs it.
enum CommandLineRun {
    /// What a run left behind.
    struct Result {
        var status: Int32
        var output: String
        var errors: String

        /// The lines of standard error.
        var errorLines: [Substring] { errors.split(separator: "\n") }
    }

    /// The program stands beside the test bundle.
    static var program: FilePath {
        get throws {
            let files = FileManager.default
            let bundle = FilePath(try files.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            let program = bundle.removingLastComponent().appending("shipshape")
            guard files.isExecutableFile(atPath: program.string) else { throw MissingProgram(path: program) }
            return program
        }
    }

    /// Runs the program to its end.
    /// - Parameter environment: what is added to an environment that names no deployment.
    static func shipshape(
        _ arguments: [String], environment: [Environment.Key: String?] = [:], in folder: FilePath? = nil
    ) async throws -> Result {
        let result = try await run(
            .path(try program), arguments: Arguments(arguments), environment: clean(environment),
            workingDirectory: folder, output: .string(limit: 4 << 20), error: .string(limit: 4 << 20))
        return Result(
            status: status(of: result.terminationStatus), output: result.standardOutput,
            errors: result.standardError)
    }

    /// Runs the program by way of a shell, whose `$0` is the program and whose `$1`… are the arguments.
    static func shell(_ script: String, _ arguments: [String]) async throws -> Result {
        let result = try await run(
            .path("/bin/bash"), arguments: Arguments(["-c", script, try program.string] + arguments),
            environment: clean([:]), output: .string(limit: 4 << 20), error: .string(limit: 4 << 20))
        return Result(
            status: status(of: result.terminationStatus), output: result.standardOutput,
            errors: result.standardError)
    }

    /// The exit code; of a signal what a shell would say.
    private static func status(of termination: TerminationStatus) -> Int32 {
        switch termination {
        case .exited(let code): code
        case .signaled(let signal): 128 + signal
        }
    }

    private static func clean(_ more: [Environment.Key: String?]) -> Environment {
        let without: [Environment.Key: String?] = [
            "SHIPSHAPE_URI": nil, "SHIPSHAPE_PASSWORD": nil, "NO_COLOR": nil,
            // A process that was killed leaves libmongoc's counters in shared memory, and the library complains about
            // them while it is loaded into a later process of the same id.
            "MONGOC_DISABLE_SHM": "1",
        ]
        return .inherit.updating(without.merging(more) { _, new in new })
    }

    private struct MissingProgram: Error, CustomStringConvertible {
        let path: FilePath
        var description: String { "\(path) is not there: build it with `swift build`" }
    }
}
