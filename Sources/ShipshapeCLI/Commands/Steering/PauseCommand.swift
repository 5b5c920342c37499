internal import ArgumentParser
import Backfill
internal import Concurrency
internal import JobState

struct PauseCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        "job pause", "<job>",
        abstract: "Asks a job to wait, from any machine.",
        examples: [
            "job pause person-v2 --note 'evening traffic'",
            "job pause jobs/app.person.yml",
        ],
        details: """
            The job's runner finishes its current chunk and then waits. It keeps the job, and continues after \
            shipshape job resume. While the job is paused, a new run ends with exit code 75 and writes nothing.
            """)

    @Argument(help: "The job's name, or its file.")
    var job: JobArgument

    @Option(help: ArgumentHelp("The reason, for the log and for others who look at the job.", valueName: "text"))
    var note: String?

    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Connection") var protection: ProtectionFlags

    func work() throws -> Work {
        let name = try job.name
        return Work { frame in
            let registry = try await frame.registry(for: "job pause")
            try await onOwnedThread(name: "state") { [note] () throws in try registry.pause(name, note: note) }
            return .text("job \(name) is paused; resume it with: \(NextCommand("job resume", [name]))")
        }
    }
}

struct ResumeCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        "job resume", "<job>",
        abstract: "Lets a paused job continue, from any machine.",
        examples: [
            "job resume person-v2",
            "job resume jobs/app.person.yml",
        ],
        details: """
            A waiting runner continues within a second or two. If no runner holds the job, run it again with backfill \
            again.
            """)

    @Argument(help: "The job's name, or its file.")
    var job: JobArgument

    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Connection") var protection: ProtectionFlags

    func work() throws -> Work {
        let name = try job.name
        return Work { frame in
            let registry = try await frame.registry(for: "job resume")
            let paused = try await onOwnedThread(name: "state") { () throws in try registry.resume(name) }
            guard let paused else { return .text("job \(name) is not paused: nothing changed") }
            let since = paused.at.map { " since \($0)" } ?? ""
            return .text("job \(name) is resumed; it was paused by \(paused.by)\(since)")
        }
    }
}
