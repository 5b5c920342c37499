internal import ArgumentParser
internal import ServerSchema

/// What the argument parser lets pass: a command that there is none of, and a flag that is given twice, of which it takes the
/// last.
enum CommandLineWords {
    /// The flags that may be given several times, as their help says.
    private static let repeatable: Set<String> = ["--report", "--rename", "--default", "--map"]
    private static let manyCollections: Set<String> = ["--collection"]

    /// - Parameter arguments: those behind the program's name.
    /// - Throws: `ValidationError` with the command that was probably meant, or the flag.
    static func check(_ arguments: [String]) throws {
        try checkCommand(arguments)
        try checkFlags(arguments)
    }

    private static func checkCommand(_ arguments: [String]) throws {
        let names = Shipshape.configuration.subcommands.map { $0._commandName } + ["help"]
        let named = arguments.first == "help" ? arguments.dropFirst().first : arguments.first
        // What begins with two hyphens, or in a request for completions with three, is the parser's.
        guard let named, !named.hasPrefix("-"), !names.contains(named) else { return }
        let hint = Spelling.hint(for: named, among: names).map { " (\($0))" } ?? ""
        throw ValidationError("there is no command \"\(named)\"\(hint)")
    }

    private static func checkFlags(_ arguments: [String]) throws {
        let allowed = ["infer", "grants"].contains(arguments.first) ? repeatable.union(manyCollections) : repeatable
        let words = arguments.prefix { $0 != "--" }
        var seen: Set<Substring> = []
        for (index, word) in words.enumerated() where word.hasPrefix("--") {
            let flag = word.prefix { $0 != "=" }
            // A flag without a value says the same twice.
            let hasValue =
                flag.count < word.count || words.dropFirst(index + 1).first.map { !$0.hasPrefix("--") } == true
            guard hasValue, !allowed.contains(String(flag)), !seen.insert(flag).inserted else { continue }
            throw ValidationError("\(flag) is given twice: give it once")
        }
    }
}
