internal import ArgumentParser
internal import ServerSchema

/// Finds two errors in a command line that the argument parser accepts: an unknown command, and a flag that is given
/// twice.
///
/// If a flag is given twice, the parser would use only its last value.
enum CommandLineWords {
    /// The flags that may be given several times, as their help says.
    private static let repeatable: Set<String> = [
        "--report", "--rename", "--default", "--map", "--combine", "--split", "--embed", "--against",
    ]
    /// The flags that may be given several times with some commands only, by the command's name.
    private static let repeatableWith: [String: Set<String>] = [
        "check": ["--collection", "--failures"], "infer": ["--collection"], "grants": ["--collection"],
    ]

    /// Refuses an unknown command and a flag that is given twice.
    /// - Parameter arguments: the arguments after the program's name.
    /// - Throws: `ValidationError` with the most similar command, or with the flag.
    static func check(_ arguments: [String]) throws {
        try checkCommand(arguments)
        try checkFlags(arguments)
    }

    private static func checkCommand(_ arguments: [String]) throws {
        let names = Shipshape.configuration.subcommands.map { $0._commandName } + ["help"]
        let named = arguments.first == "help" ? arguments.dropFirst().first : arguments.first
        // A word that begins with a hyphen may be a flag or a request for completions, so the argument parser checks
        // it.
        guard let named, !named.hasPrefix("-"), !names.contains(named) else { return }
        let hint = Spelling.hint(for: named, among: names).map { " (\($0))" } ?? ""
        throw ValidationError("there is no command \"\(named)\"\(hint)")
    }

    private static func checkFlags(_ arguments: [String]) throws {
        let allowed = repeatable.union(arguments.first.flatMap { repeatableWith[$0] } ?? [])
        let words = arguments.prefix { $0 != "--" }
        var seen: Set<Substring> = []
        for (index, word) in words.enumerated() where word.hasPrefix("--") {
            let flag = word.prefix { $0 != "=" }
            // A flag without a value has the same effect whether it is given once or twice. Therefore only a flag that
            // may have a value is refused.
            let hasValue =
                flag.count < word.count || words.dropFirst(index + 1).first.map { !$0.hasPrefix("--") } == true
            guard hasValue, !allowed.contains(String(flag)), !seen.insert(flag).inserted else { continue }
            throw ValidationError("\(flag) is given twice: give it once")
        }
    }
}
