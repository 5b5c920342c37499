internal import ArgumentParser
internal import Jobs

/// A job as the operator names it to steer it: its name, or the path of its file.
///
/// The name alone will do, since whoever pauses a job in the night may not have its file at hand.
struct JobArgument: ExpressibleByArgument {
    private let text: String

    init(argument: String) { text = argument }

    /// The job's name.
    /// - Throws: ``JobError`` when it names a file that is no job.
    var name: String {
        get throws { try file?.name ?? text }
    }

    /// The job's file; `nil` when only a name was given.
    var file: Job? {
        get throws {
            try path.map { try JobFile.read(past: $0) }
        }
    }

    /// The file's path; `nil` when only a name was given.
    var path: String? {
        text.contains("/") || text.hasSuffix(".yml") || text.hasSuffix(".yaml") ? text : nil
    }
}
