internal import Reporting

/// The next `shipshape` command that a result proposes to the user, as a line that the user can copy.
///
/// The proposed command repeats the options of this run that select the settings, if it connects to a deployment. The
/// connection string is not repeated, because it may contain a password. The proposed command reads it from
/// `SHIPSHAPE_URI` or `shipshape.yml`.
struct NextCommand: CustomStringConvertible {
    let description: String

    /// Creates a command line from its parts.
    /// - Parameters:
    ///   - command: the command's name, followed by the flags that take no value, such as `backfill --dry-run`.
    ///   - arguments: the command's arguments.
    ///   - flags: the flags that take a value.
    init(_ command: String, _ arguments: [String], _ flags: [(name: String, value: String)] = []) {
        let all = flags + Self.repeated(by: command.split(separator: " ").map(String.init))
        description =
            (["shipshape \(command)"] + arguments.map(\.shellWord) + all.map { "\($0.name) \($0.value.shellWord)" })
            .joined(separator: " ")
    }

    /// Returns the options of this run that select the settings, if the proposed command takes them.
    private static func repeated(by words: [String]) -> [(name: String, value: String)] {
        guard ShownCommand(words).type is any ConnectedCommand.Type else { return [] }
        let selected = Settings.current.selected
        return [("--config", selected.config), ("--env", selected.environment)].compactMap { name, value in
            value.map { (name, $0) }
        }
    }
}
