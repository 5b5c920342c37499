internal import ArgumentParser
internal import Files
internal import Jobs
internal import SystemPackage

/// A job that the operator controls, given by its name, for which no file is needed, or by the path of its file.
struct JobArgument: ExpressibleByArgument {
    private let text: String

    init(argument: String) { text = argument }

    static var defaultCompletionKind: CompletionKind { .jobs }

    /// The job's name.
    /// - Throws: ``UsageError`` for the path of a folder; ``JobError`` for a file that cannot be read as a job.
    var name: String {
        get throws { try file?.name ?? text }
    }

    /// The job as its file states it; `nil` if only a name was given.
    var file: Job? {
        get throws {
            guard let path else { return nil }
            try Self.refuseFolder(path)
            return try JobFile.read(past: path)
        }
    }

    /// Refuses the path of a folder, because the command takes one job.
    static func refuseFolder(_ path: String) throws {
        guard (try? FilePath(path).stat().type) == .directory else { return }
        throw UsageError(
            "\(path) is a folder, but this command takes one job: shipshape backfill \(path) runs the jobs of a folder")
    }

    var folder: String? { (try? FilePath(text).stat().type) == .directory ? text : nil }

    /// The file's path; `nil` if only a name was given.
    var path: String? {
        text.contains("/") || text.hasSuffix(".yml") || text.hasSuffix(".yaml") ? text : nil
    }
}
