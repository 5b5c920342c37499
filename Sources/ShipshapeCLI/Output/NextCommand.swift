internal import Reporting

/// The next `shipshape` command that a result proposes to the user, as a line that the user can copy.
///
/// The proposed command repeats the flags of this run that select the deployment, the state database and the ledger, as
/// far as it accepts them. The connection string is not repeated, because it may contain a password. The proposed
/// command reads it from `SHIPSHAPE_URI` or `shipshape.yml`.
struct NextCommand: CustomStringConvertible {
    let description: String

    /// Creates a command line from its parts.
    /// - Parameters:
    ///   - command: the command's name, followed by the flags that take no value, such as `backfill --dry-run`.
    ///   - arguments: the command's arguments.
    ///   - flags: the flags that take a value.
    init(_ command: String, _ arguments: [String], _ flags: [(name: String, value: String)] = []) {
        let all = flags + Settings.current.repeatedFlags(for: command.split(separator: " ").map(String.init))
        description =
            (["shipshape \(command)"] + arguments.map(\.shellWord) + all.map { "\($0.name) \($0.value.shellWord)" })
            .joined(separator: " ")
    }
}

extension Settings {
    /// Returns the flags of this run that the proposed command has to repeat to use the same deployment, state database
    /// and ledger.
    ///
    /// Flags that the proposed command does not accept are left out.
    /// - Parameter command: the words of the proposed command's name.
    fileprivate func repeatedFlags(for command: [String]) -> [(name: String, value: String)] {
        guard !selection.isEmpty, let accepted = try? CommandFlags.accepted(by: command) else { return [] }
        return selection.filter { accepted.contains($0.name) }
    }
}
