internal import BSON
internal import Foundation
internal import LocatedYAML
internal import Reporting
internal import SchemaChange
internal import ServerSchema
internal import Synchronization
internal import SystemPackage

/// The place in a file that an error names, which is shown with the line and a caret.
struct ErrorPlace {
    private let location: SourceLocation
    private let unit: SourceSnippet.Unit
    private let suggestion: String?

    /// Finds the place; `nil` for an error that names none.
    init?(of error: any Error) {
        switch error {
        case let error as SchemaError: (location, unit) = (error.location, .bytes)
        case let error as LocatedError:
            guard let place = error.location else { return nil }
            (location, unit) = (place, .characters)
        case let error as RenameError:
            guard let place = error.location else { return nil }
            (location, unit) = (place, .characters)
        default: return nil
        }
        suggestion = "\(error)".firstMatch(of: /did you mean "([^"]+)"\?/).map { String($0.1) }
    }

    /// Returns the line with the error, and the caret below it.
    ///
    /// Returns an empty list if the file cannot be read, or if the line may contain a secret.
    ///
    /// Only regular files are read, because a read from a pipe or a device would wait for data.
    func snippet(width: Int, isColored: Bool) -> [String] {
        guard location.line > 0, (try? FilePath(location.file).stat().type) == .regular,
            let lines = Self.lines(of: location.file),
            location.line > lines.count
                || lines[location.line - 1].utf8.count <= Self.longestLine, !mayHoldSecret(lines)
        else { return [] }
        let snippet = SourceSnippet(location, in: lines, counting: unit, suggestion: suggestion)
        return snippet?.lines(width: width, isColored: isColored) ?? []
    }

    /// The numbers of bytes of the longest line that is shown, and of the largest file of which lines are shown.
    private static let (longestLine, largestFile) = (10_000, 2 << 20)

    /// The lines of the file that was read last, because many errors can be in one file.
    private static let last = Mutex<(file: String, lines: [Substring])?>(nil)

    private static func lines(of file: String) -> [Substring]? {
        last.withLock { last in
            if let last, last.file == file { return last.lines }
            guard let text = try? SourceFile.text(of: file), text.utf8.count <= largestFile else { return nil }
            last = (file, SourceSnippet.lines(of: text))
            return last?.lines
        }
    }

    /// Words in the names of keys whose values may be secret; a misspelt name is likely to contain one, too.
    private static let secretWords = ["uri", "pass", "secret", "token", "credential"]

    /// Whether the line with the error may show a connection string or a password.
    ///
    /// A line with only a part of a secret does not look like a secret. The line therefore also counts as secret if it,
    /// or a YAML key that contains it, has a word such as `uri` or `pass`.
    private func mayHoldSecret(_ lines: [Substring]) -> Bool {
        // An error at the end of a file can have its position on an empty line. The snippet then shows the last line
        // above it that is not blank, so this line is examined.
        var rest = lines.prefix(location.line)
        while rest.last?.allSatisfy(\.isWhitespace) == true { rest.removeLast() }
        guard let line = rest.last.map(String.init) else { return false }
        // An @ may belong to a connection string, except in a Prisma schema, where attributes begin with @.
        let hasAt = line.contains("@") && !location.file.hasSuffix(".prisma")
        if hasAt || line.contains("://") || ConnectionStringMask.mask(line) != line { return true }
        var indent = Int.max
        for line in rest.reversed() where !line.allSatisfy(\.isWhitespace) {
            // The keys that contain a YAML line are above it, each with less indentation. The items of a list may have
            // the same indentation as the key of the list.
            let depth = line.prefix { $0 == " " || $0 == "\t" }.count
            guard depth < indent else { continue }
            if Self.secretWords.contains(where: line.lowercased().contains) { return true }
            if depth == 0, line.first != "-" { return false }
            indent = line.dropFirst(depth).first == "-" ? depth + 1 : depth
        }
        return false
    }

    /// Returns the message with the file's name as a link, if the terminal shows links, the file exists, and the
    /// message begins with its name.
    func linked(in message: String) -> String {
        let name = location.file.printable
        guard Console.showsLinks, message.hasPrefix(name), (try? FilePath(location.file).stat()) != nil else {
            return message
        }
        let folder = FilePath(FileManager.default.currentDirectoryPath)
        return Hyperlink.text(
            name, toFile: folder.pushing(FilePath(location.file)).lexicallyNormalized().string,
            on: ProcessInfo.processInfo.hostName) + message.dropFirst(name.count)
    }
}
