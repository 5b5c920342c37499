import BSON
public import SchemaChange

/// The changes between two schemas as Markdown, for a comment on a pull request.
public struct DiffMarkdown: Sendable {
    private let report: DiffReport

    /// Wraps a report.
    public init(_ report: DiffReport) { self.report = report }

    /// The text, which ends with a line break.
    public var text: String {
        var blocks = ["### Schema changes", "**\(Self.cell(report.headline))**"]
        if !report.changes.isEmpty { blocks.append(table) }
        if !report.hints.isEmpty {
            let lines = report.hints.map {
                "- \(Self.code("--rename \($0.rename.shellWord)")): \(Self.cell($0.reason))"
            }
            blocks.append((["Looks like a rename; if it is one, say so:", ""] + lines).joined(separator: "\n"))
        }
        if !report.notes.isEmpty { blocks.append(report.notes.map { "> \(Self.cell($0))" }.joined(separator: "\n")) }
        return blocks.joined(separator: "\n\n") + "\n"
    }

    private var table: String {
        var titles = ["collection", "change", "server", "clients"]
        if report.weights != nil { titles.append("documents") }
        titles.append("what to do")
        let rows = report.groups.flatMap { group in
            group.changes.map { index in
                let change = report.changes[index]
                var cells = [
                    Self.code(group.name), "\(Self.cell(change.description)) <sub>\(change.code)</sub>",
                    Self.badge(change.server), Self.badge(change.client),
                ]
                if report.weights != nil { cells.append(Self.cell(report.weight(index) ?? "")) }
                return cells + [Self.cell(change.kind.advice)]
            }
        }
        return ([titles, titles.map { _ in "---" }] + rows).map { "| \($0.joined(separator: " | ")) |" }
            .joined(separator: "\n")
    }

    private static func badge(_ verdict: SchemaChange.Verdict) -> String {
        switch verdict {
        case .breaking: "🔴 **breaking**"
        case .versioned: "🟡 versioned"
        case .served: "🟢 served"
        case .nonBreaking: "🟢 additive"
        }
    }

    /// Text in a table, in which nothing is read as markup, as a link or as the name of somebody to call.
    static func cell(_ text: String) -> String {
        var result = ""
        for character in text.printable {
            // GitHub looks for these in the text that the markup leaves.
            if character == "/", result.hasSuffix(":") || result.hasSuffix("/") { result += broken }
            if character == ".", result.lowercased().hasSuffix("www") { result += broken }
            if "\\`*_{}[]<>|~&#".contains(character) { result.append("\\") }
            result.append(character)
            if character == "@" || character == "#" { result += broken }
        }
        return result
    }

    /// A space without a width: what stands on either side is no longer one word.
    private static let broken = "&#8203;"

    /// Text as code in a table: a bar ends the cell even there.
    private static func code(_ text: String) -> String {
        let plain = text.printable
        let longest = plain.split(whereSeparator: { $0 != "`" }).map(\.count).max() ?? 0
        let fence = String(repeating: "`", count: longest + 1)
        let gap = longest > 0 ? " " : ""
        return fence + gap + plain.replacing("|", with: "\\|") + gap + fence
    }
}
