internal import CPages
package import Checking
internal import SchemaChange
package import ServerSchema

/// The page of one code, with statements such as what it means and what to do.
///
/// The pages are the rows of the tables in `docs/reference/rules.md` and `docs/reference/exit-codes.md`, which the
/// program carries with it.
package struct Explanation: Hashable, Sendable {
    /// A kind of codes: a section of the page of rules or, for the exit codes and the topics, a page of its own.
    package struct Section: Hashable, Sendable {
        /// The heading that the section has in the documentation.
        package let heading: String
        /// The kind of the section's codes, as a phrase.
        package let name: String
        /// The titles of the columns that follow the column of codes in the documentation's table for the section.
        package let columns: [String]
        /// The engine whose rules the section has; `nil` for other sections.
        let engine: Engine?
    }

    /// A statement of a page, such as what the code means.
    ///
    /// In the documentation's tables, the statement's title is the title of its column.
    package struct Statement: Hashable, Sendable {
        /// The title of the statement's column in the documentation's tables.
        package let title: String
        /// The text of the statement, in Markdown.
        package let text: String
    }

    package let code: String
    package let section: Section
    /// The statements of the page, in the order of the section's columns; statements without a text are left out.
    package let statements: [Statement]

    package static let all: [Explanation] = Section.all.flatMap(pages)

    /// Returns a statement of the page on an order of work, without Markdown.
    static func statement(_ title: String, of order: WorkOrder) -> String {
        let page = all.first { $0.section == .orders && $0.code == order.rawValue }
        return (page?.statements.first { $0.title == title }?.text ?? "").replacing("*", with: "")
    }

    /// Returns the pages of a section from the table below its heading.
    private static func pages(of section: Section) -> [Explanation] {
        let page = unsafe section == .exitCodes ? shipshape_exit_codes() : shipshape_rules()
        let text = unsafe String(decoding: UnsafeBufferPointer(start: page.bytes, count: page.size), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let start = lines.firstIndex { $0.drop { $0 == "#" } == " \(section.heading)" } ?? lines.endIndex
        let own = lines[start...].dropFirst().prefix { !$0.hasPrefix("## ") && !$0.hasPrefix("### ") }
        // A section may have another table before the table of its codes.
        return own.drop { !$0.hasPrefix("| code |") }.dropFirst(2).prefix { $0.hasPrefix("|") }.map { row in
            let cells = row.dropFirst().dropLast().replacing("\\|", with: "\0").split(
                separator: "|", omittingEmptySubsequences: false
            ).map { cell in
                String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()).replacing("\0", with: "\\|")
            }
            let statements = zip(section.columns, cells.dropFirst()).map { Statement(title: $0, text: $1) }
            return Explanation(
                code: cells[0].replacing("`", with: ""), section: section,
                statements: statements.filter { !$0.text.isEmpty })
        }
    }

    /// Returns the pages of a code, one for each kind of code that has it, or the pages on an error of Prisma, which
    /// may be given by its code or by a sentence of it.
    ///
    /// A code such as `constraint-below-minimum` has two pages: the page of `below-minimum`, and the page of all
    /// constraints of App Services schemas.
    ///
    /// If several dialects have the code, the pages of the project's dialect are enough.
    package static func pages(of code: String, in dialect: Dialect?) -> [Explanation] {
        let pages = pages(of: code)
        guard let dialect else { return pages }
        let own = pages.filter { $0.section.dialects?.contains(dialect) ?? true }
        return own.contains { $0.section.dialects != nil } ? own : pages
    }

    /// Returns the pages that have all words of a text; those of the project's dialect come first.
    static func pages(with text: String, in dialect: Dialect?) -> [Explanation] {
        let asked = Recipe.words(text)
        guard !asked.isEmpty else { return [] }
        let found = all.filter { page in
            let words = Recipe.words(
                ([page.code, page.section.name] + page.statements.map(\.text)).joined(separator: " "))
            return asked.isSubset(of: words)
        }
        func isOwn(_ page: Explanation) -> Bool {
            dialect.map { page.section.dialects?.contains($0) ?? false } ?? false
        }
        return found.filter(isOwn) + found.filter { !isOwn($0) }
    }

    /// Returns the pages of a code in all dialects.
    package static func pages(of code: String) -> [Explanation] {
        if code == "exit-codes" { return all.filter { $0.section == .exitCodes } }
        if let topic = TopicPages.all.first(where: { $0.code == code }) { return [topic] }
        if !all.contains(where: { $0.code == code && $0.section != .prismaErrors }) {
            let ofPrisma = pages(ofPrismaError: code)
            guard ofPrisma.isEmpty else { return ofPrisma }
        }
        let constraint = "constraint-"
        guard code.hasPrefix(constraint), code != constraint else { return all.filter { $0.code == code } }
        let judged = code.dropFirst(constraint.count)
        let judging: [Section] = [.validators, .documents]
        let own = judging.flatMap { section in all.filter { $0.section == section && $0.code == judged } }.prefix(1)
        return own.isEmpty ? [] : own + all.filter { $0.code == constraint + "…" }
    }

    /// Returns the pages on an error of Prisma, found by its code, such as `P2032`, or by words of it; empty for any
    /// other text.
    ///
    /// After the page of the error itself, they are the pages of the rules that a document breaks if a Prisma client's
    /// query fails with this error.
    private static func pages(ofPrismaError error: String) -> [Explanation] {
        let codes = error.matches(of: /\b(P[12]\d{3}|E11000)\b/).map { String($0.output.1) }
        let words = plain(error)
        let sections: [Section] = [.prismaErrors, .prisma]
        return sections.flatMap { section in all.filter { $0.section == section } }.filter { page in
            page.statements.contains { statement in
                guard statement.title == "Prisma's error" else { return false }
                return codes.contains { page.code == $0 || statement.text.contains($0) }
                    || codes.isEmpty && sentences(in: statement.text).contains { isSaid($0, in: words) }
            }
        }
    }

    /// Returns the sentences in asterisks of a text, each as its parts between the places where a name stands.
    private static func sentences(in text: String) -> [[String]] {
        text.matches(of: /\*([^*]+)\*/).map { match in
            match.output.1.split(separator: "…").map { plain(String($0)) }.filter { !$0.isEmpty }
        }
    }

    /// Whether a text has all parts of a sentence in their order, or is a part of it of at least two words.
    private static func isSaid(_ sentence: [String], in text: String) -> Bool {
        if text.contains(" "), sentence.contains(where: { " \($0) ".contains(" \(text) ") }) { return true }
        var rest = text[...]
        for part in sentence {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return true
    }

    /// Returns the words of a text in small letters, with one space between them.
    private static func plain(_ text: String) -> String {
        text.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: " ")
    }
}

extension Explanation.Section {
    package static let documents = Self(
        "Documents", "a rule for documents of App Services schemas",
        ["level", "what it means", "example", "remedy", "source"])
    package static let validators = Self(
        "MongoDB's own validators", "a rule of MongoDB's validators", ["what it means", "example", "remedy", "source"])
    package static let prisma = Self(
        "Prisma clients", "a rule for documents that a Prisma client reads",
        ["level", "what it means", "example", "remedy", "Prisma's error"])
    package static let prismaErrors = Self(
        "Errors of Prisma clients", "an error of a Prisma client", ["Prisma's error", "which documents", "what to do"])
    package static let schemas = Self("Schemas", "a rule of lint", documents.columns)
    package static let prismaSchemas = Self("Prisma schemas", "a rule of lint for Prisma schemas", documents.columns)
    package static let changes = Self(
        "Changes", "a change between two schemas",
        ["server", "client", "what it means", "example", "what to do", "source"])
    package static let orders = Self(
        "Order of work", "an order of work for a change",
        ["changes", "old clients read", "new clients read", "before", "between", "after"])
    package static let remarks = Self(
        "Remarks", "a remark of schema infer", ["what it means", "example", "what to do", "source"])
    package static let history = Self(
        "Earlier checks", "a finding of check --history", ["what it means", "example", "what to do"])
    package static let waits = Self("Reasons to wait", "a reason to wait", ["what it means", "limit", "what to do"])
    package static let exitCodes = Self("Exit codes", "an exit code", ["meaning", "what to do"])
    package static let topics = Self("Topics", "a topic", ["what it is", "example"])

    package static func engine(_ engine: Engine) -> Self {
        let isAny = engine == .any
        return Self(
            isAny ? "Any engine" : engine.name, isAny ? "a rule for any sync engine" : "a rule of \(engine.name)",
            ["outcome", "what it means", "example", "remedy", "source"], engine)
    }

    /// The kind of the section's codes, as the beginning of a line.
    var title: String { name.prefix(1).uppercased() + name.dropFirst() }

    /// The dialects of the schemas whose documents or texts the section's codes judge; `nil` if that depends on none.
    var dialects: Set<Dialect>? {
        switch self {
        case .documents, .schemas: [.appServices, .jsonSchema]
        case .validators: [.jsonSchema]
        case .prisma, .prismaSchemas: [.prisma]
        default: nil
        }
    }

    private init(_ heading: String, _ name: String, _ columns: [String], _ engine: Engine? = nil) {
        self.init(heading: heading, name: name, columns: columns, engine: engine)
    }

    /// All sections, in the order in which the documentation's page of rules shows them; the exit codes come last.
    package static let all: [Self] =
        [.documents, .validators, .prisma, .prismaErrors]
        + Engine.allCases.filter { $0 != .deviceSync }.map { .engine($0) }
        + [.schemas, .prismaSchemas, .changes, .orders, .remarks, .history, .waits, .exitCodes]
}
