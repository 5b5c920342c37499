internal import ArgumentParser
internal import Backfill

/// A job as the operator names it to steer it: its name, or the path of its file.
///
/// The name alone will do, since whoever pauses a job in the night may not have its file at hand.
struct JobArgument: ExpressibleByArgument {
    private let text: String

    init(argument: String) { text = argument }

    /// The job's name.
    /// - Throws: ``JobError`` when it names a file that is no job.
    var name: String {
        get throws { isFile ? try JobFile.read(at: text).name : text }
    }

    private var isFile: Bool { text.contains("/") || text.hasSuffix(".yml") || text.hasSuffix(".yaml") }
}
