import BSON
import Checking
package import ServerSchema

/// The result of `shipshape explain`: the pages of one code, a list of codes, or what was found by words.
package struct ExplainResult: Reportable {
    private enum Form { case pages, groups, list, found }

    /// The pages of the code, of all codes, or of the codes that were found.
    private let pages: [Explanation]
    private let form: Form
    /// The recipes that were found, the nearest first.
    private let recipes: [Recipe]

    /// The most recipes that are named after the first one, and the most codes.
    private static let others = 4

    /// Creates the list of the groups of codes.
    package init() { (pages, form, recipes) = (Explanation.all, .groups, []) }

    /// Creates the pages of a code, or finds recipes and codes by words.
    /// - Parameter dialect: the dialect of the project's schema, whose pages are enough for a code of several dialects;
    ///   `nil` if it is unknown.
    /// - Throws: ``UnknownCode`` if nothing is found.
    package init(of code: String, in dialect: Dialect? = nil) throws(UnknownCode) {
        let named = code == "rules" ? Explanation.all : Explanation.pages(of: code, in: dialect)
        recipes = named.isEmpty ? Array(Recipe.recipes(for: code).prefix(Self.others + 1)) : []
        pages = named.isEmpty ? Array(Explanation.pages(with: code, in: dialect).prefix(Self.others)) : named
        form = code == "rules" ? .list : named.isEmpty ? .found : .pages
        if pages.isEmpty, recipes.isEmpty { throw UnknownCode(code) }
    }

    package func text(_ layout: TextLayout) -> String { text(width: layout.width) + "\n" }

    /// Returns the result as text for a terminal.
    /// - Parameter width: the width of the terminal in columns; `nil` for no limit.
    package func text(width: Int?) -> String {
        switch form {
        case .pages: pages.map { page($0, width) }.joined(separator: "\n\n")
        case .groups: groups(width ?? 80)
        case .list: list(width)
        case .found: (recipes.prefix(1).map { recipe($0, width) } + codes(width)).joined(separator: "\n\n")
        }
    }

    /// A line for each group of codes, with those that fit, and the commands that show more.
    private func groups(_ width: Int) -> String {
        let lines = Explanation.Section.all.map { section in
            let codes = pages.filter { $0.section == section }.map(\.code)
            let line = "\(section.title) (\(codes.count.grouped)): \(codes.joined(separator: ", "))"
            let fitting = line.wrapped(to: width - 2).first ?? ""
            return fitting == line ? line : "\(fitting) …"
        }
        let ends = [
            "shipshape explain CODE prints what a code means; shipshape explain rules lists all",
            "\(pages.count.grouped) codes; other words find recipes and codes.",
        ]
        return (lines + [""] + ends).joined(separator: "\n")
    }

    /// The codes that were found, each with what it means.
    private func codes(_ width: Int?) -> [String] {
        guard !pages.isEmpty else { return [] }
        let lines = pages.flatMap { page in
            let meaning = page.statements.first { $0.title.contains("mean") }?.text ?? page.section.name
            return "\(page.code): \(Self.plain(meaning))".wrapped(to: width, indent: 2)
        }
        return [(["Codes:"] + lines).joined(separator: "\n")]
    }

    private func recipe(_ recipe: Recipe, _ width: Int?) -> String {
        let job = recipe.job.split(separator: "\n", omittingEmptySubsequences: false).map { "  \($0)" }
        var lines = [recipe.question] + Self.plain(recipe.text).wrapped(to: width, indent: 2) + [""] + job
        lines += ["", "  before  \(recipe.before)", "  after   \(recipe.after)"]
        if recipes.count > 1 {
            lines += ["", "Other recipes:"] + recipes.dropFirst().map { "  \($0.question)" }
        }
        return lines.joined(separator: "\n")
    }

    private func list(_ width: Int?) -> String {
        let blocks = Explanation.Section.all.map { section in
            let codes = pages.filter { $0.section == section }.map(\.code)
            // Without a terminal, each code has its own line, so that a program can search for a code.
            let lines =
                width.map { codes.joined(separator: ", ").wrapped(to: $0, indent: 2) } ?? codes.map { "  \($0)" }
            return (["\(section.title):"] + lines).joined(separator: "\n")
        }
        return (blocks + ["shipshape explain CODE prints what a code means."]).joined(separator: "\n\n")
    }

    private func page(_ page: Explanation, _ width: Int?) -> String {
        var statements = page.statements.map { ($0.title, $0.text) }
        if let engine = page.section.engine { statements.append(("version", engine.version)) }
        let indent = (statements.map(\.0.count).max() ?? 0) + 4
        let lines = statements.flatMap { title, text in
            let lines = Self.plain(text).wrapped(to: width, indent: indent)
            let first = "  \(title.padded(to: indent - 2))\((lines.first ?? "").dropFirst(indent))"
            return [first] + lines.dropFirst()
        }
        return (["\(page.code): \(page.section.name)"] + lines).joined(separator: "\n")
    }

    /// Returns a Markdown text without its links, asterisks and escaped bars.
    private static func plain(_ text: String) -> String {
        text.replacing(/\[(?<text>[^\]]*)\]\([^)]*\)/) { $0.output.text }.replacing(/\*(?<word>\w[^*]*)\*/) {
            $0.output.word
        }.replacing("\\|", with: "|")
    }

    package var json: JSONReport {
        let codes = pages.map { page -> ReportValue in
            let statements = page.statements.map { ($0.title.replacing(" ", with: "_"), ReportValue.string($0.text)) }
            return ["code": page.code, "kind": page.section.name, "statements": ReportValue.object(statements)]
        }
        let found = recipes.map { recipe -> ReportValue in
            [
                "question": recipe.question, "text": recipe.text, "job": recipe.job, "before": recipe.before,
                "after": recipe.after,
            ]
        }
        return JSONReport("explain", ["codes": codes, "recipes": found])
    }

    package var report: Report {
        var report = Report(
            command: "explain", title: "The codes of shipshape",
            headline: form == .groups || form == .list
                ? "\(pages.count) codes" : recipes.first?.question ?? pages.first?.code ?? "",
            level: .notice)
        let ofPages = pages.map { page in
            ("\(page.code): \(page.section.name)", page.statements.map { ($0.title, Self.plain($0.text)) })
        }
        let ofRecipes = recipes.map { recipe in
            (recipe.question, [("job", recipe.job), ("before", recipe.before), ("after", recipe.after)])
        }
        report.tables = (ofPages + ofRecipes).map { title, rows in
            Report.Table(title: title, columns: ["", ""], rows: rows.map { [Report.Cell($0), Report.Cell($1)] })
        }
        return report
    }
}

/// The error for a code that the program does not know.
package struct UnknownCode: Error, CustomStringConvertible {
    /// The message, which suggests similar codes if there are any.
    package let description: String

    init(_ code: String) {
        let near = Spelling.nearest(to: code, among: Explanation.all.map(\.code) + TopicPages.names, most: 3)
        let hint = near.isEmpty ? "" : " (did you mean \(near.joined(separator: ", "))?)"
        description = "there is no code \"\(code)\"\(hint), and no recipe: shipshape explain lists all codes"
    }
}
