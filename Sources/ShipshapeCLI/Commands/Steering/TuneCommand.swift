internal import ArgumentParser
internal import Backfill
internal import Concurrency
internal import Files
internal import Jobs
internal import LocatedYAML

/// The command `shipshape job tune JOB LIMIT=VALUE…`.
struct TuneCommand: WritingCommand {
    static let configuration = CommandConfiguration(
        "job tune", "<job> [<limit=value> ...]",
        abstract: "Shows and sets the limits of a job while it runs, from any machine.",
        examples: [
            "job tune person-v2",
            "job tune person-v2 nice=0.5 chunk.documents=1000",
            "job tune person-v2 nice=",
        ],
        details: """
            Limits have the names and values of the limits in a job file, such as nice=0.5 or chunk.documents=1000. \
            LIMIT=? shows one limit, no LIMIT at all shows all, and LIMIT= restores the value in the file. The runner \
            applies a change within a chunk; the job's text stays as it is.
            """)

    @Argument(help: "The job's name, or its file.")
    var job: JobArgument

    @Argument(help: ArgumentHelp("The limit to set or show.", valueName: "limit=value"))
    var limits: [Assignment] = []

    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Connection") var protection: ProtectionFlags

    func validate() throws {
        let names = limits.map(\.name)
        if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
            throw ValidationError("\(twice) is given twice")
        }
    }

    func work() throws -> Work {
        let name = try job.name
        return Work { frame in
            let registry = try await frame.registry(for: "job tune")
            let changes = limits.filter { !$0.isQuestion }.map { LimitOverride(name: $0.name, value: $0.value) }
            let asked = limits.map { Limit.named($0.name)?.name ?? $0.name }
            do {
                let entries = try await onOwnedThread(name: "state") { () throws in
                    if !changes.isEmpty { try registry.tune(name, changes) }
                    return try registry.limits(of: name)
                }
                let known = entries.map(\.name)
                if let unknown = asked.first(where: { !known.contains($0) }) {
                    throw JobRegistry.unknownLimit(unknown, among: known)
                }
                let shown = entries.filter { asked.isEmpty || asked.contains($0.name) }
                return .text(shown.map(Self.line).joined(separator: "\n"))
            } catch let error as LocatedError {
                // The message of the job file's parser is shown without its position in a file, because the value is on
                // the command line.
                throw UsageError("nothing was changed: \(error.message)")
            }
        }
    }

    private static func line(_ limit: JobRegistry.LimitInForce) -> String {
        "\(limit.name)=\(limit.value)" + (limit.isOverridden ? " (set by tune)" : "")
    }

    /// An argument of `tune`: `limit=value` sets a limit, and `limit=?` only asks for its value.
    struct Assignment: ExpressibleByArgument {
        let name: String
        let value: String

        var isQuestion: Bool { value == "?" }

        init?(argument: String) {
            let sides = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, !sides[0].isEmpty else { return nil }
            (name, value) = (String(sides[0]), String(sides[1]))
        }
    }
}
