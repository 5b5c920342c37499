internal import Reporting

/// A command of the program that a result proposes, in a form that the user can copy.
///
/// The command has the flags of this run that select the deployment, the state and the ledger, if it takes them. The
/// connection string is not repeated, because it may contain a password; the command takes it from `SHIPSHAPE_URI` or
/// `shipshape.yml`.
struct NextCommand: CustomStringConvertible {
    let description: String

    /// Creates a command line from its parts.
    /// - Parameters:
    ///   - command: the command's name with flags that have no value, such as `backfill --dry-run`.
    ///   - arguments: the command's arguments.
    ///   - flags: the flags with a value.
    init(_ command: String, _ arguments: [String], _ flags: [(name: String, value: String)] = []) {
        let all = flags + Settings.current.repeatedFlags(for: command.split(separator: " ").map(String.init))
        description =
            (["shipshape \(command)"] + arguments.map(\.shellWord) + all.map { "\($0.name) \($0.value.shellWord)" })
            .joined(separator: " ")
    }
}

extension Settings {
    /// Returns the flags of this run that select the deployment, the state or the ledger, for a command that the
    /// program proposes.
    ///
    /// Flags that the proposed command does not take are left out.
    /// - Parameter command: the words of the command's name.
    fileprivate func repeatedFlags(for command: [String]) -> [(name: String, value: String)] {
        guard !selection.isEmpty, let accepted = try? CommandFlags.accepted(by: command) else { return [] }
        return selection.filter { accepted.contains($0.name) }
    }
}
