internal import ArgumentParser
import Backfill
internal import Concurrency
internal import JobState
internal import Mongo

/// The command `shipshape pause JOB`.
struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "pause", "<job>",
        abstract: "Asks a job to wait, from any machine.",
        examples: [
            "pause person-v2 --note 'evening traffic'",
            "pause jobs/app.person.yml",
        ],
        details: """
            The job's runner finishes its current chunk and then waits. It keeps the job, and continues after \
            shipshape resume. While the job is paused, a new run ends with exit code 75 and writes nothing.
            """)

    @Argument(help: "The job's name, or its file.")
    var job: JobArgument

    @Option(help: ArgumentHelp("The reason, for the log and for others who look at the job.", valueName: "text"))
    var note: String?

    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Output") var color: ColorFlags

    func run() async throws {
        let (name, registry) = (try job.name, try await state.registry(connection, for: "pause"))
        try await onOwnedThread(name: "state") { [note] () throws in try registry.pause(name, note: note) }
        try Console.show("job \(name) is paused; resume it with: \(NextCommand("resume", [name]))")
    }
}

/// The command `shipshape resume JOB`.
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "resume", "<job>",
        abstract: "Lets a paused job continue, from any machine.",
        examples: [
            "resume person-v2",
            "resume jobs/app.person.yml",
        ],
        details: """
            A waiting runner continues within a second or two. If no runner holds the job, run it again with backfill \
            or migrate.
            """)

    @Argument(help: "The job's name, or its file.")
    var job: JobArgument

    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags
    @OptionGroup(title: "Output") var color: ColorFlags

    func run() async throws {
        let (name, registry) = (try job.name, try await state.registry(connection, for: "resume"))
        let paused = try await onOwnedThread(name: "state") { () throws in try registry.resume(name) }
        guard let paused else { return try Console.show("job \(name) is not paused: nothing changed") }
        let since = paused.at.map { " since \($0)" } ?? ""
        try Console.show("job \(name) is resumed; it was paused by \(paused.by)\(since)")
    }
}
