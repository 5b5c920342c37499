import BSON
public import SchemaChange
import ServerSchema

/// The changes between two schemas as text: first the verdict, then each collection with its breaking changes first,
/// then the advice.
public struct DiffText: Sendable {
    private let report: DiffReport
    private let paint: Paint
    private let width: Int?

    /// - Parameters:
    ///   - isColored: Whether to use a terminal's colours.
    ///   - width: The width of the terminal in columns; `nil` for a file, whose lines are not wrapped.
    public init(_ report: DiffReport, isColored: Bool = false, width: Int? = nil) {
        self.report = report
        self.width = width
        paint = Paint(isOn: isColored)
    }

    /// The text, which ends with a line break.
    public var text: String {
        let headline = report.headline.printable.wrapped(to: width).joined(separator: "\n")
        var blocks = [paint(report.verdict ?? .nonBreaking, headline)]
        blocks += report.groups.map { group(name: $0.name, $0.changes) }
        if !report.hints.isEmpty { blocks.append(hints) }
        if !report.changes.isEmpty { blocks.append(advice) }
        if !report.notes.isEmpty { blocks.append(report.notes.map { "Note: \($0)" }.asLines) }
        return blocks.asReport(verdict: blocks[0])
    }

    private func paint(_ verdict: SchemaChange.Verdict, _ text: String) -> String {
        switch verdict {
        case .breaking: paint.red(text)
        case .versioned: paint.yellow(text)
        case .served, .nonBreaking: paint.green(text)
        }
    }

    private func group(name: String, _ indices: [Int]) -> String {
        var titles = [report.dialect.sides.server, report.dialect.sides.client, "change", "rule"]
        var rows = indices.map { index in
            let change = report.changes[index]
            return [change.server.word, change.client.word, change.description.printable, change.code.rawValue]
        }
        if report.weights != nil {
            titles.append("documents")
            for (row, index) in indices.enumerated() { rows[row].append(report.weight(index) ?? "") }
        }
        let widths = titles.indices.map { column in (rows + [titles]).map { $0[column].count }.max() ?? 0 }
        let isNarrow = width.map { widths.reduce(0) { $0 + $1 + 2 } > $0 } ?? false
        let lines = zip(indices, rows).flatMap { index, row in
            let change = report.changes[index]
            let sides =
                paint(change.server, row[0].padded(to: widths[0])) + "  "
                + paint(change.client, row[1].padded(to: widths[1]))
            let (first, rest) = (widths[0] + widths[1] + 6, row[2...].filter { !$0.isEmpty })
            if isNarrow {
                let indent = String(repeating: " ", count: first)
                return ["  \(sides)  \(row[2])"] + rest.dropFirst().map { indent + $0 }
            }
            return ["  \(sides)  \(line(Array(row[2...]), Array(widths[2...])))"]
        }
        let heading = line(isNarrow ? Array(titles[..<3]) : titles, widths)
        return ([paint.bold(name), "  \(heading)"] + lines).asLines
    }

    /// Returns the cells of a row, padded to the widths of their columns, without blanks at the end.
    private func line(_ cells: [String], _ widths: [Int]) -> String {
        String(Substring(zip(cells, widths).map { $0.padded(to: $1) }.joined(separator: "  ")).trimmedEnd)
    }

    private var hints: String {
        let lines = report.hints.flatMap { hint in
            ["  --rename \(hint.rename.shellWord)", "    \(subject(hint)): \(hint.reason.printable)"]
        }
        return ([paint.bold("Possible renames; if one is a rename, add its flag:")] + lines).asLines
    }

    private func subject(_ hint: RenameHint) -> String {
        let path = hint.removed.path
        return (path.isRoot ? hint.removed.namespace.map { "\($0)" } ?? "" : "\(path)").printable
    }

    /// The advice on the changes: one paragraph for each kind of change, the breaking kinds first.
    private var advice: String {
        var kinds: [(kind: ChangeKind, subjects: [String])] = []
        for index in report.groups.flatMap(\.changes) {
            let change = report.changes[index]
            let place = [change.namespace.map { "\($0)" }, change.path.isRoot ? nil : "\(change.path)"]
            let subject = place.compactMap(\.self).joined(separator: " ").printable
            if let known = kinds.firstIndex(where: { $0.kind == change.kind }) {
                kinds[known].subjects.append(subject)
            } else {
                kinds.append((change.kind, [subject]))
            }
        }
        let worst = kinds.filter { $0.kind.verdict == .breaking } + kinds.filter { $0.kind.verdict != .breaking }
        let lines = worst.flatMap { kind, subjects in
            let paragraphs = [kind.advice, kind.consequenceWords, "(\(kind.source.words))"].filter { !$0.isEmpty }
            let wrapped = paragraphs.flatMap { $0.wrapped(to: inner) }
            let shown = subjects.prefix(3).filter { !$0.isEmpty }.joined(separator: ", ")
            let more = subjects.count > 3 ? " and \((subjects.count - 3).grouped) more" : ""
            let title = paint(kind.verdict, kind.code.rawValue) + (shown.isEmpty ? "" : ": \(shown)\(more)")
            return ["  \(title)"] + wrapped.map { "    \($0)" }
        }
        return ([paint.bold("What to do")] + lines).asLines
    }

    private var inner: Int? { width.map { max(30, $0 - 4) } }
}
