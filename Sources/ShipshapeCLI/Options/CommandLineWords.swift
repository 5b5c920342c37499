internal import ArgumentParser
internal import ServerSchema

/// Finds two errors in a command line that the argument parser accepts: an unknown command, and an option that is given
/// twice, of which the parser would use only the last value.
enum CommandLineWords {
    /// The options that may be given several times, as their help says.
    private static let repeatable: Set<String> = [
        "--report", "--default", "--map", "--combine", "--split", "--embed", "--against", "--on",
    ]
    /// The options that may be given several times with some commands only, by the command's name.
    private static let repeatableWith: [String: Set<String>] = [
        "check": ["--collection", "--failures"], "plan": ["--collection"], "schema infer": ["--collection"],
        "grants": ["--collection"],
    ]

    /// Refuses an unknown command and an option that is given twice.
    /// - Parameter arguments: the arguments after the program's name.
    /// - Throws: `ValidationError` with the most similar command, or with the option.
    static func check(_ arguments: [String]) throws {
        try checkCommand(arguments.first == "help" ? Array(arguments.dropFirst()) : arguments)
        try checkOptions(arguments)
    }

    private static func checkCommand(_ arguments: [String]) throws {
        let command = ShownCommand(arguments)
        let names = command.type.configuration.subcommands.map { $0._commandName }
        let count = command.name.split(separator: " ").count
        // A word that begins with a hyphen may be an option or a request for completions, so the argument parser checks
        // it.
        guard !names.isEmpty, let word = arguments.dropFirst(count).first, !word.hasPrefix("-"), word != "help" else {
            return
        }
        let hint =
            Spelling.hint(for: word, among: names).map { " (\($0))" } ?? "; commands: \(names.joined(separator: ", "))"
        let name = command.name.isEmpty ? word : "\(command.name) \(word)"
        throw ValidationError("there is no command \"\(name)\"\(hint)")
    }

    private static func checkOptions(_ arguments: [String]) throws {
        let allowed = repeatable.union(repeatableWith[ShownCommand(arguments).name] ?? [])
        let words = arguments.prefix { $0 != "--" }
        var seen: Set<Substring> = []
        for (index, word) in words.enumerated() where word.hasPrefix("--") {
            let option = word.prefix { $0 != "=" }
            // An option without a value has the same effect whether it is given once or twice. Therefore only an option
            // that may have a value is refused.
            let hasValue =
                option.count < word.count || words.dropFirst(index + 1).first.map { !$0.hasPrefix("--") } == true
            guard hasValue, !allowed.contains(String(option)), !seen.insert(option).inserted else { continue }
            throw ValidationError("\(option) is given twice: give it once")
        }
    }
}
