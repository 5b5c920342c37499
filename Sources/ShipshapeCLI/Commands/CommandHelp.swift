internal import ArgumentParser

extension CommandConfiguration {
    /// Creates the configuration of a command whose help begins with one sentence and examples.
    /// - Parameters:
    ///   - name: the words after the program's name, such as `partner init`.
    ///   - arguments: the positional arguments and required options in the usage line.
    ///   - abstract: the first sentence of the help.
    ///   - examples: the command lines to show, without the program's name and at most 67 characters long, so that they
    ///     are not wrapped.
    ///   - details: the paragraphs after the examples.
    ///   - connects: whether the command takes the options of ``ConnectionFlags``. If so, the help of the command only
    ///     names the help page of these options.
    init(
        _ name: String, _ arguments: String = "", abstract: String, examples: [String], details: String = "",
        connects: Bool = true
    ) {
        self.init(
            commandName: name.split(separator: " ").last.map(String.init), abstract: abstract,
            usage: "shipshape \(name) [<options>]" + (arguments.isEmpty ? "" : " \(arguments)"),
            discussion: Self.text(examples: examples, details, connects ? Self.whereConnectionIsShown : ""))
    }

    /// Returns the text of a help page after its first sentence: the examples, then the paragraphs.
    static func text(examples: [String], _ paragraphs: String...) -> String {
        let shown = ["EXAMPLES:"] + examples.map { "  shipshape \($0)" }
        return ([shown.joined(separator: "\n")] + paragraphs.filter { !$0.isEmpty }).joined(separator: "\n\n")
    }

    private static var whereConnectionIsShown: String {
        "Options for the connection, such as --uri: shipshape help connection"
    }
}

extension ArgumentVisibility {
    /// The visibility of options that have a help page of their own, so that the help of each command leaves them out.
    ///
    /// The parser's errors and the completions would leave hidden options out, too. Therefore the options are hidden
    /// only if the command line asks for help. `--help-hidden` shows them in any case.
    static let onOwnPage: ArgumentVisibility = {
        let words = CommandLine.arguments.dropFirst().prefix { $0 != "--" }
        return words.first == "help" || words.contains { $0 == "-h" || $0 == "--help" } ? .hidden : .default
    }()
}
