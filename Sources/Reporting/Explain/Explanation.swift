internal import CPages
package import Checking
internal import SchemaChange

/// The page of one code, with statements such as what it means and what to do.
///
/// The pages are the rows of the tables in `docs/reference/rules.md` and `docs/reference/exit-codes.md`, which the
/// program carries with it.
package struct Explanation: Hashable, Sendable {
    /// The kinds of codes.
    ///
    /// Each kind is a section of the page of rules, except for the exit codes, which have a page of their own.
    package enum Section: Hashable, Sendable {
        case documents, validators, prisma, prismaErrors, engine(Engine), schemas, prismaSchemas, changes, orders,
            remarks, history,
            waits, exitCodes, topics
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

    /// The code that the page explains.
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
    /// All sections, in the order in which the documentation's page of rules shows them; the exit codes come last.
    package static let all: [Self] =
        [.documents, .validators, .prisma, .prismaErrors]
        + Engine.allCases.filter { $0 != .deviceSync }.map { .engine($0) }
        + [.schemas, .prismaSchemas, .changes, .orders, .remarks, .history, .waits, .exitCodes]

    /// The kind of the section's codes, as a phrase.
    package var name: String {
        switch self {
        case .documents: "a rule for documents of App Services schemas"
        case .validators: "a rule of MongoDB's validators"
        case .prisma: "a rule for documents that a Prisma client reads"
        case .prismaErrors: "an error of a Prisma client"
        case .engine(.any): "a rule for any sync engine"
        case .engine(let engine): "a rule of \(engine.name)"
        case .schemas: "a rule of lint"
        case .prismaSchemas: "a rule of lint for Prisma schemas"
        case .changes: "a change between two schemas"
        case .orders: "an order of work for a change"
        case .remarks: "a remark of schema infer"
        case .history: "a finding of check --history"
        case .waits: "a reason to wait"
        case .exitCodes: "an exit code"
        case .topics: "a topic"
        }
    }

    /// The heading that the section has in the documentation.
    package var heading: String {
        switch self {
        case .documents: "Documents"
        case .validators: "MongoDB's own validators"
        case .prisma: "Prisma clients"
        case .prismaErrors: "Errors of Prisma clients"
        case .prismaSchemas: "Prisma schemas"
        case .engine(.any): "Any engine"
        case .engine(let engine): engine.name
        case .schemas: "Schemas"
        case .changes: "Changes"
        case .orders: "Order of work"
        case .remarks: "Remarks"
        case .history: "Earlier checks"
        case .waits: "Reasons to wait"
        case .exitCodes: "Exit codes"
        case .topics: "Topics"
        }
    }

    /// The titles of the columns that follow the column of codes in the documentation's table for the section.
    package var columns: [String] {
        switch self {
        case .prisma: ["level", "what it means", "example", "remedy", "Prisma's error"]
        case .prismaErrors: ["Prisma's error", "which documents", "what to do"]
        case .documents, .schemas, .prismaSchemas: ["level", "what it means", "example", "remedy", "source"]
        case .validators: ["what it means", "example", "remedy", "source"]
        case .engine: ["outcome", "what it means", "example", "remedy", "source"]
        case .changes: ["server", "client", "what it means", "example", "what to do", "source"]
        case .orders: ["changes", "old clients read", "new clients read", "before", "between", "after"]
        case .remarks: ["what it means", "example", "what to do", "source"]
        case .history: ["what it means", "example", "what to do"]
        case .waits: ["what it means", "limit", "what to do"]
        case .exitCodes: ["meaning", "what to do"]
        case .topics: ["what it is", "example"]
        }
    }
}
