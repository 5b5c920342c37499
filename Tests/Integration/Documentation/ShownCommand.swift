import Foundation
import SystemPackage

/// A command line of the program, as a page of the documentation or a file in `jobs` shows it.
struct ShownCommand {
    /// The words before the first option: the name of the command, such as `partner init`, and arguments.
    let words: [String]
    /// The flags of the command, without their values.
    let flags: [String]

    /// Returns the paths, within the repository, of the pages and other files that may show commands.
    ///
    /// The generated page `docs/reference/commands.md` and the pictures are not among them.
    static func files() throws -> [String] {
        let folders = ["docs", "jobs"].flatMap { folder in
            let all = FileManager.default.enumerator(atPath: Repository.path(folder).string)?.allObjects ?? []
            return all.compactMap { $0 as? String }.map { "\(folder)/\($0)" }
        }
        let files = folders.filter { path in
            let kind = try? Repository.path(path).stat().type
            return kind == .regular && path != "docs/reference/commands.md" && !path.hasPrefix("docs/images/")
        }
        return ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"] + files.sorted()
    }

    /// Returns the commands that a file shows; empty if there are none.
    ///
    /// In code, a command begins with the program's name, also after a prompt, after `ExecStart=` or in a pipe. The
    /// `args` of a container in YAML are a command too.
    static func all(in file: String) throws -> [ShownCommand] {
        let text = try String(contentsOfFile: Repository.path(file).string, encoding: .utf8)
            .replacing("\\\n", with: " ")
        let lines = text.matches(of: /(?m)(?:^|[ `=\/])shipshape ([a-z]+)((?: +[^ \n`|#;]+)*)/)
            .map { (name: $0.1, arguments: $0.2, line: $0.0) }
            .filter { isCode($0.line, in: text) }
            .map { ShownCommand(name: $0.name, arguments: $0.arguments) }
        let containers = text.matches(of: /args: \["([a-z]+)"(.*)\]/)
            .map { ShownCommand(name: $0.1, arguments: Substring($0.2.filter { !"\",".contains($0) })) }
        return lines + containers
    }

    /// Whether the matched text is in a line of code.
    ///
    /// Prose can also have the program's name before a word, as in "shipshape takes".
    private static func isCode(_ match: Substring, in text: String) -> Bool {
        let line = text[text.lineRange(for: match.startIndex..<match.endIndex)]
        return line.contains(#/^(\$ )?([A-Z_]+=\S+ )*shipshape /#) || line.hasPrefix("ExecStart=")
            || line.contains("`shipshape ") || line.hasPrefix("          shipshape ")
            || line.contains("run: shipshape ") || line.hasPrefix("shipshape check \"$schema\"")
    }

    private init(name: Substring, arguments: Substring) {
        let rest = arguments.split(separator: " ")
        words = ([name] + rest.prefix { !$0.hasPrefix("-") }).map(String.init)
        flags = rest.filter { $0.wholeMatch(of: /--[a-z-]+.*|-[a-z]/) != nil }
            .map { String($0.prefix { $0.isLetter || $0 == "-" }) }
    }
}
