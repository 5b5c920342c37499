internal import ArgumentParser
internal import Jobs
internal import SystemPackage

/// A job as the operator names it to steer it: its name, or the path of its file.
///
/// The name alone will do, since whoever pauses a job in the night may not have its file at hand.
struct JobArgument: ExpressibleByArgument {
    private let text: String

    init(argument: String) { text = argument }

    static var defaultCompletionKind: CompletionKind { .file() }

    /// The job's name.
    /// - Throws: ``JobError`` when it names a file that is no job.
    var name: String {
        get throws { try file?.name ?? text }
    }

    /// The job's file; `nil` when only a name was given.
    var file: Job? {
        get throws {
            guard let path else { return nil }
            try Self.refuseFolder(path)
            return try JobFile.read(past: path)
        }
    }

    /// Refuses a folder in the place of a job.
    static func refuseFolder(_ path: String) throws {
        guard (try? FilePath(path).stat().type) == .directory else { return }
        throw UsageError(
            "\(path) is a folder, and one job is expected: shipshape migrate \(path) runs those of a folder")
    }

    /// The file's path; `nil` when only a name was given.
    var path: String? {
        text.contains("/") || text.hasSuffix(".yml") || text.hasSuffix(".yaml") ? text : nil
    }
}
