public import SchemaChange

/// The changes between two schemas as one HTML file that needs no other.
public struct DiffHTML: Sendable {
    private let report: DiffReport

    /// Wraps a report.
    public init(_ report: DiffReport) { self.report = report }

    /// The text, which ends with a line break.
    public var text: String {
        let title = Markup.line("Schema changes: \(report.old) → \(report.new)")
        let lines =
            [
                "<!doctype html>", #"<html lang="en">"#, "<head>", #"<meta charset="utf-8">"#,
                #"<meta name="viewport" content="width=device-width, initial-scale=1">"#, "<title>\(title)</title>",
                "<style>\n\(Self.style)</style>", "</head>", "<body>", "<h1>\(title)</h1>",
                #"<p class="headline \#(Self.name(report.verdict ?? .nonBreaking))">\#(Markup.line(report.headline))</p>"#,
            ] + report.groups.map { section($0.name, $0.changes) } + hints
            + report.notes.map { "<p>Note: \(Markup.line($0))</p>" } + ["</body>", "</html>"]
        return lines.joined(separator: "\n") + "\n"
    }

    private func section(_ name: String, _ indices: [Int]) -> String {
        let hasWeights = report.weights != nil
        let titles = ["Server", "Clients", "Change"] + (hasWeights ? ["Documents"] : []) + ["What to do"]
        let head = titles.map { "<th scope=\"col\">\($0)</th>" }.joined()
        return
            (["<section>", "<h2>\(Markup.line(name))</h2>", "<table>", "<thead><tr>\(head)</tr></thead>", "<tbody>"]
            + indices.map(row) + ["</tbody>", "</table>", "</section>"]).joined(separator: "\n")
    }

    private func row(_ index: Int) -> String {
        let change = report.changes[index]
        let place = (change.new ?? change.old)?.location
        var cells = [
            Self.badge(change.server), Self.badge(change.client),
            "\(Markup.line(change.description))<br><small><code>\(change.code)</code>"
                + (place.map { " \(Markup.line("\($0)"))" } ?? "") + "</small>",
        ]
        if report.weights != nil { cells.append(Markup.line(report.weight(index) ?? "")) }
        cells.append(
            "\(Markup.line(change.kind.advice))<br><small>\(Markup.line(change.kind.consequenceWords)) "
                + "Source: \(Markup.line(change.kind.source.words)).</small>")
        return "<tr>\(cells.map { "<td>\($0)</td>" }.joined())</tr>"
    }

    private var hints: [String] {
        guard !report.hints.isEmpty else { return [] }
        let items = report.hints.map {
            "<li><code>--rename \(Markup.line($0.rename.shellWord))</code> \(Markup.line($0.reason))</li>"
        }
        return ["<section>", "<h2>Looks like a rename; if it is one, say so</h2>", "<ul>"] + items + [
            "</ul>", "</section>",
        ]
    }

    private static func name(_ verdict: SchemaChange.Verdict) -> String { verdict.word }

    private static func badge(_ verdict: SchemaChange.Verdict) -> String {
        "<span class=\"badge \(name(verdict))\">\(verdict.word)</span>"
    }

    private static let style = """
        :root { color-scheme: light dark; --line: #8884; }
        body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
        h1 { font-size: 1.3rem; } h2 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
        table { border-collapse: collapse; width: 100%; }
        th, td { border-bottom: 1px solid var(--line); padding: .45rem .6rem; text-align: left; vertical-align: top; }
        th { font-weight: 600; } td:last-child { width: 45%; } small { opacity: .75; }
        .headline { border-left: .35rem solid; padding: .5rem .8rem; font-weight: 600; }
        .headline.breaking { border-color: #c62828; } .headline.versioned { border-color: #b7791f; }
        .headline.additive { border-color: #2e7d32; }
        .badge { border-radius: .3rem; color: #fff; font-size: .8rem; font-weight: 600; padding: .1rem .45rem; }
        .badge.breaking { background: #c62828; } .badge.versioned { background: #8a5a10; }
        .badge.additive, .badge.served { background: #2e7d32; }

        """
}
