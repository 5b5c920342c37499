import BSON
import Checking
import Files
internal import Foundation
import LocatedYAML
import Reporting
package import SchemaChange
package import ServerSchema

/// The reason, the owner and the last day that the operator states for new exceptions.
package struct ExceptionStatement {
    /// The reason why the findings are accepted.
    package let reason: String
    /// The person or team that is responsible for the exceptions.
    package let owner: String
    /// The last day of the exceptions, as `YYYY-MM-DD`; `nil` if they never expire.
    package let expires: String?

    package init(reason: String, owner: String, expires: String?) {
        self.reason = reason
        self.owner = owner
        self.expires = expires
    }
}

/// A finding that the operator accepts now.
package struct NewException {
    /// The collection; `nil` for a change of the whole app.
    package let collection: String?
    package let path: String
    package let rule: String
    package let fingerprint: Fingerprint
    /// A description for the comment in the entry, such as the expected and found types, on one line.
    package let remark: String

    package init(collection: String?, path: String, rule: String, fingerprint: Fingerprint, remark: String) {
        self.collection = collection
        self.path = path
        self.rule = rule
        self.fingerprint = fingerprint
        self.remark = remark
    }
}

/// Adds entries to the file of exceptions, and keeps all its other lines.
package struct ExceptionsWriter {
    private let path: String
    private let statement: ExceptionStatement

    package init(_ path: String, _ statement: ExceptionStatement) { (self.path, self.statement) = (path, statement) }

    /// Writes the exceptions to the end of the file, which is created if it does not exist.
    ///
    /// An expired entry for the same rule at the same path is removed, because two entries for one finding are an
    /// error.
    /// - Returns: the number of new entries.
    /// - Throws: ``LocatedError`` for a file that cannot be read; ``UsageError`` for a file to which no entry can be
    ///   added; ``OutputError``.
    package func add(_ new: [NewException], today: String) throws -> Int {
        var seen: Set<AcceptedKey> = []
        let new = new.filter { seen.insert(AcceptedKey($0)).inserted }
        guard !new.isEmpty else { return 0 }
        let before = FileManager.default.fileExists(atPath: path) ? try YAMLFile.text(at: path) : ""
        let text = try added(new, to: before, today: today)
        do { try AtomicFile.write(text.utf8, to: path) } catch {
            throw OutputError(description: "cannot write the exceptions \(path): \(error)")
        }
        return new.count
    }

    /// Returns the file's text with the new entries at its end.
    package func added(_ new: [NewException], to text: String, today: String) throws -> String {
        let known = try ExceptionsFile.parse(text, path: path)
        let keys = Set(new.map(AcceptedKey.init))
        let entries =
            known.findings.map { (key: AcceptedKey($0), acceptance: $0.acceptance) }
            + known.changes.map { (key: AcceptedKey($0), acceptance: $0.acceptance) }
        let replaced = entries.filter { key, acceptance in
            acceptance.isExpired(on: today)
                && keys.contains { $0.isSameRule(as: key) && (key.fingerprint == nil || $0 == key) }
        }.map(\.acceptance.location.line)
        let starts = entries.map(\.acceptance.location.line).sorted()
        // Swift treats a carriage return and the line feed after it as one character, which is not equal to a line
        // feed. The lines are therefore split by scalars.
        var lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        if lines.last == "" { lines.removeLast() }
        if starts.isEmpty { lines.removeAll { $0.drop(while: \.isWhitespace).hasPrefix("[]") } }
        for line in replaced.sorted(by: >) where line <= lines.count {
            lines.removeSubrange(line - 1..<Self.end(of: line, before: starts.first { $0 > line }, in: lines))
        }
        let result = (lines + new.flatMap(entry)).joined(separator: "\n") + "\n"
        // The file may be written in a notation to which no entry can be added at the end, such as `[{…}]`. The new
        // text is therefore parsed, to check that it has the expected number of entries.
        let expected = known.count - replaced.count + new.count
        guard let read = try? ExceptionsFile.parse(result, path: path), read.count == expected else {
            throw UsageError(
                "\(path): its entries are not a list of lines that begin with \"- \", so none can be added: write it "
                    + "so, or name another file with --exceptions")
        }
        return result
    }

    /// Returns the index after the last line of an entry; blank lines and comments that follow it are not part of it.
    private static func end(of line: Int, before next: Int?, in lines: [String]) -> Int {
        var end = min(next.map { $0 - 1 } ?? lines.count, lines.count)
        while end > line, lines[end - 1].allSatisfy(\.isWhitespace) || lines[end - 1].hasPrefix("#") { end -= 1 }
        return end
    }

    private func entry(_ exception: NewException) -> [String] {
        let members: [(String, String)?] = [
            exception.collection.map { ("collection", $0.quotedAsYAML) }, ("path", exception.path.quotedAsYAML),
            ("rule", exception.rule),
            ("fingerprint", "\"\(exception.fingerprint)\"  # \(exception.remark.printable)"),
            ("reason", statement.reason.quotedAsYAML), ("owner", statement.owner.quotedAsYAML),
            statement.expires.map { ("expires", $0) },
        ]
        return members.compactMap(\.self).enumerated().map { index, member in
            "\(index == 0 ? "- " : "  ")\(member.0): \(member.1)"
        }
    }
}

extension AcceptedKey {
    package init(_ exception: NewException) {
        collection = exception.collection ?? ""
        (path, rule, fingerprint) = (exception.path, exception.rule, exception.fingerprint)
    }

    /// Whether two entries accept findings of the same rule at the same path of the same collection; their fingerprints
    /// may differ.
    fileprivate func isSameRule(as other: AcceptedKey) -> Bool {
        collection == other.collection && path == other.path && rule == other.rule
    }
}

extension NewException {
    package init(_ change: SchemaChange) {
        self.init(
            collection: change.namespace.map { "\($0)" }, path: "\(change.path)", rule: change.code.rawValue,
            fingerprint: change.fingerprint, remark: change.description)
    }
}
