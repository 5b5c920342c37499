internal import ArgumentParser
import Backfill
internal import Concurrency
internal import JobState
internal import Mongo

/// `shipshape pause JOB`.
struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Asks a job to wait, from any machine.",
        discussion: """
            Its runner ends the chunk that is under way and then waits; it keeps the job, and goes on as soon as \
            resume says so. While the job is paused, a new run ends with exit code 75 and writes nothing.
            """)

    @Argument(help: "The job's name, or its file.")
    var job: JobArgument

    @Option(help: ArgumentHelp("Why, for the log and for who looks at the job.", valueName: "text"))
    var note: String?

    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags

    func run() async throws {
        let (name, registry) = (try job.name, try await state.registry(connection, for: "pause"))
        try await onOwnedThread(name: "state") { [note] () throws in try registry.pause(name, note: note) }
        try Console.show("job \(name) is paused; go on with: shipshape resume \(name)")
    }
}

/// `shipshape resume JOB`.
struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Lets a paused job go on, from any machine.",
        discussion: """
            A runner that waits goes on by itself within a second or two. Where none holds the job, run it again with \
            backfill or migrate.
            """)

    @Argument(help: "The job's name, or its file.")
    var job: JobArgument

    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection") var connection: ConnectionFlags

    func run() async throws {
        let (name, registry) = (try job.name, try await state.registry(connection, for: "resume"))
        let paused = try await onOwnedThread(name: "state") { () throws in try registry.resume(name) }
        guard let paused else { return try Console.show("job \(name) is not paused: nothing changed") }
        let since = paused.at.map { " since \($0)" } ?? ""
        try Console.show("job \(name) may go on; it was paused by \(paused.by)\(since)")
    }
}
