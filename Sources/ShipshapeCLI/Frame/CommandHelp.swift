internal import ArgumentParser
internal import Reporting

extension CommandConfiguration {
    /// Creates the configuration of a command whose help begins with one sentence and examples.
    /// - Parameters:
    ///   - name: the words after the program's name, such as `partner init`.
    ///   - arguments: the positional arguments and required options in the usage line.
    ///   - abstract: the first sentence of the help.
    ///   - examples: the command lines to show, without the program's name and at most 67 characters long, so that they
    ///     are not wrapped.
    ///   - details: the paragraphs after the examples.
    init(
        _ name: String, _ arguments: String = "", abstract: String, examples: [String], details: String = "",
        subcommands: [any ParsableCommand.Type] = []
    ) {
        let usage = subcommands.isEmpty ? "[<options>]" : "<command>"
        self.init(
            commandName: name.split(separator: " ").last.map(String.init), abstract: abstract,
            usage: "shipshape \(name) \(usage)" + (arguments.isEmpty ? "" : " \(arguments)"),
            discussion: Self.text(examples: examples, details), subcommands: subcommands)
    }

    /// Returns the text of a help page after its first sentence: the examples, then the paragraphs.
    static func text(examples: [String], _ paragraphs: String...) -> String {
        let shown = ["EXAMPLES:"] + examples.map { "  shipshape \($0)" }
        return ([shown.joined(separator: "\n")] + paragraphs.filter { !$0.isEmpty }).joined(separator: "\n\n")
    }
}

/// The page of `-h`: the usage, at most ten options and the examples of a command, on one screen.
enum BriefHelp {
    private static let mostOptions = 10
    private static let width = 80

    /// Returns the page that a command line asks for; `nil` if it has no `-h`, or names a group of commands.
    /// - Parameter arguments: the arguments after the program's name.
    static func page(for arguments: [String]) -> String? {
        let words = arguments.prefix { $0 != "--" }
        guard words.contains("-h"), !words.contains("--help") else { return nil }
        let command = ShownCommand(arguments)
        guard command.type.configuration.subcommands.isEmpty else { return nil }
        return page(of: command)
    }

    private static func page(of command: ShownCommand) -> String {
        let configuration = command.type.configuration
        let (options, rest) = options(of: command.type)
        let more = "shipshape \(command.name) --help"
        let column = min(30, (options.map(\.name.count).max() ?? 0) + 4)
        let lines = options.flatMap { option in
            let head = "  \(option.name)"
            let isLong = head.count + 2 > column
            let text = shortened(option.help, lines: isLong ? 1 : 2, width: width - column)
            let indent = String(repeating: " ", count: column)
            let first =
                isLong ? [head] + text.prefix(1).map { indent + $0 } : [head.padded(to: column) + (text.first ?? "")]
            return first + text.dropFirst().map { indent + $0 }
        }
        let examples = configuration.discussion.split(separator: "\n\n", maxSplits: 1).first.map(String.init) ?? ""
        return [
            configuration.abstract.wrapped(to: width, indent: 0).joined(separator: "\n"),
            "USAGE: \(configuration.usage ?? "")",
            (["OPTIONS:"] + lines).joined(separator: "\n"), examples,
            rest == 0 ? "The whole help: \(more)" : "All options (\(rest) more) and the whole help: \(more)",
        ].joined(separator: "\n\n")
    }

    /// Returns the beginning of a text in a few lines; an ellipsis shows that the rest is left out.
    private static func shortened(_ text: String, lines: Int, width: Int) -> [String] {
        let all = text.wrapped(to: width - 1, indent: 0)
        guard all.count > lines else { return all }
        return all.prefix(lines - 1) + ["\(all[lines - 1])…"]
    }

    /// Returns the options that the page shows, each with its first sentence, and the count of the others.
    ///
    /// They are those that the command names in `brief`, or else its first ones, except the options that most commands
    /// have.
    private static func options(of type: any ParsableCommand.Type) -> ([(name: String, help: String)], Int) {
        let all = entries(in: type.helpMessage(columns: 10_000))
        let isCommon = { (entry: (name: String, help: String)) in common.contains { entry.name.contains($0) } }
        let brief = (type as? any FramedCommand.Type)?.brief ?? []
        let named = brief.compactMap { name in all.first { $0.name.hasSuffix(name) || $0.name.contains("\(name) ") } }
        let shown = brief.isEmpty ? Array(all.filter { !isCommon($0) }.prefix(mostOptions)) : named
        return (shown, all.count - shown.count)
    }

    /// The options that most commands have.
    private static let common = [
        "--uri", "--config", "--env", "--output", "--report", "--quiet", "--yes-protected", "--help", "--version",
    ]

    /// Returns the options in the text of a help page whose lines are not wrapped.
    private static func entries(in page: String) -> [(name: String, help: String)] {
        let lines = page.split(separator: "\n")
        return lines.enumerated().compactMap { index, line in
            guard line.hasPrefix("  -") else { return nil }
            let text = line.drop { $0 == " " }
            // A long name is followed by one space only.
            let name = text.prefixMatch(of: /(-\w, )?--[a-z-]+( <[^>]+>)?/)?.output.0 ?? text
            var help = text.dropFirst(name.count).drop { $0 == " " }
            if help.isEmpty, index + 1 < lines.count { help = lines[index + 1].drop { $0 == " " } }
            let end = help.firstRange(of: ". ")?.lowerBound ?? help.firstRange(of: " (values: ")?.lowerBound
            return (String(name), String(end.map { help[..<$0] } ?? help).trimmingSuffix("."))
        }
    }
}

struct ShownCommand {
    let type: any ParsableCommand.Type
    /// The words of the command's name, without the program's.
    let name: String

    /// Finds the command by the first words.
    init(_ arguments: [String]) {
        var type: any ParsableCommand.Type = Shipshape.self
        var words: [String] = []
        for word in arguments {
            guard let next = type.configuration.subcommands.first(where: { $0._commandName == word }) else { break }
            type = next
            words.append(word)
        }
        (self.type, name) = (type, words.joined(separator: " "))
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String { hasSuffix(suffix) ? String(dropLast()) : self }
}
