import BSON
package import ServerSchema

/// The result of a command, in the parts that every output format shows.
///
/// Each command converts its result to a report once, and the renderer of an output format reads only the report. JSON
/// and JSON lines have no renderer, because they are made from the result itself. The text of a few commands is also
/// made from the result. A report's texts are not escaped: each renderer escapes them for its format.
package struct Report: Sendable {
    /// The severity of a verdict, a finding or an amount.
    package enum Level: Hashable, Sendable, CaseIterable, Comparable {
        case good, notice, warning, error
    }

    package var command: String
    /// The subject of the report, such as a job and its collection.
    package var title: String
    /// The verdict, in one sentence.
    package var headline: String
    package var level: Level
    /// The file or folder that the report covers, such as the schema; `nil` if it covers none.
    ///
    /// Some output formats need a position in a file for every text. They show this file for a text without a position.
    package var file: String?
    package var parts: [Part] = []
    /// The lines that the text format shows instead of ``Figures/facts``: the figures in words, one line each.
    package var lines: [String] = []
    package var figures = Figures()
    /// The findings, by collection, file or job.
    package var sections: [Section] = []
    /// Tables that belong to no section.
    package var tables: [Table] = []
    /// The reports on parts of the result, such as one database or job of many, each with the name of its part.
    package var reports: [(name: String, report: Report)] = []
    /// Notes for the reader, one sentence each.
    package var notes: [String] = []
    /// Notes that are shown even with `--quiet`.
    package var warnings: [String] = []
    /// Lines for the end of the text that propose what to do next, such as a command.
    package var next: [String] = []
    package var style = Style()

    package init(command: String, title: String, headline: String, level: Level) {
        self.command = command
        self.title = title
        self.headline = headline
        self.level = level
    }
}

extension Report {
    /// The largest number of findings that a result lists; of more, it lists the most severe, and counts all.
    static let mostListed = 5_000

    /// Returns a note on the findings that are only counted; none if all are listed.
    static func omission(of count: Int, _ noun: String) -> [String] {
        guard count > mostListed else { return [] }
        return ["\((count - mostListed).counted(noun)) not listed: these are the \(mostListed.grouped) most severe"]
    }

    /// The figures of a result: single figures, sums with a limit, bar charts, and values over time.
    package struct Figures: Sendable {
        /// Single figures, each with a name.
        package var facts: [Fact] = []
        /// The line that the text format shows instead of ``facts``; `nil` for none.
        ///
        /// The line has, for example, the number of documents read, and the duration.
        package var footer: String?
        /// Sums of amounts, each shown with its limit.
        package var gauges: [Gauge] = []
        /// Amounts to compare, as bars.
        package var charts: [Chart] = []
        /// Values that change over time.
        package var series: [Series] = []
    }

    /// How a report's sections are shown.
    package struct Style: Sendable {
        /// Whether the text format shows the findings' messages instead of tables, because the cells are too long for a
        /// terminal.
        package var listsFindings = false
        /// Whether the text format, except in a report file, shows the findings of all sections in one table, and at
        /// most as many as fit on two screens; or, if it lists the findings, each with its details in one line.
        package var isCompact = false
        /// Whether the text format shows the filters of the findings, as a report file always does.
        package var showsFilters = false
        /// The kind of thing that each section covers, as a column title, such as `file` or `job`.
        package var sectionKind = "collection"
    }

    /// A part of a verdict, such as the verdict on the documents or on the limit of unsynced documents.
    package struct Part: Sendable {
        package var name: String
        package var level: Level
        package var word: String
        /// Whether the part makes the command exit with code 1.
        package var isFailure = false
        package var sentence: String
        /// The figures of the part, which the text format shows instead of the sentence; `nil` if there are none.
        package var figures: String?
        /// Reasons and remarks that follow the sentence, one sentence each.
        package var reasons: [String] = []
    }

    package struct Fact: Sendable {
        package let name: String
        package let value: String

        init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }

        init(_ name: String, _ count: Int) { self.init(name, count.grouped) }

        static func seconds(_ name: String, _ seconds: Double) -> Fact { Fact(name, "\(seconds.inTenths) s") }
    }

    /// Amounts that add up towards a limit.
    package struct Gauge: Sendable {
        package var title: String
        /// A summary of the amounts, in one sentence.
        package var summary: String
        /// The limit for the sum of the amounts.
        package var limit: Int
        /// The amounts, in the order in which the gauge shows them.
        package var amounts: [Amount]
    }

    package struct Amount: Sendable {
        package var name: String
        package var value: Int
        /// The level of the amount, which decides its colour.
        package var level: Level
    }

    /// A chart of bars, each of one or more amounts.
    package struct Chart: Sendable {
        package var title: String
        /// The kind of thing that a bar shows, as a column title.
        package var kind: String
        /// The bars, from top to bottom.
        package var bars: [Bar]
    }

    package struct Bar: Sendable {
        package var name: String
        /// The amounts of the bar, from left to right.
        package var amounts: [Amount]
    }

    package struct Column: Sendable, ExpressibleByStringLiteral {
        package var title: String
        /// Whether the column has figures, which are aligned to the right.
        package var isNumber = false
        /// Whether the column has advice, which the text format shows once for all findings of the same kind.
        package var isAdvice = false
        /// The order in which a terminal that is too narrow for the table leaves out columns, beginning with 1; `nil`
        /// if it never leaves out the column.
        package var omission: Int?

        static func number(_ title: String) -> Column { Column(title: title, isNumber: true) }
    }

    package struct Cell: Sendable, ExpressibleByStringInterpolation {
        package var text: String
        /// The level of the verdict that the cell shows; `nil` if the cell shows no verdict.
        package var level: Level?
        /// Whether the text, such as a name or a path, is shown as code.
        package var isCode = false

        package init(_ text: String, level: Level? = nil, isCode: Bool = false) {
            self.text = text
            self.level = level
            self.isCode = isCode
        }

        package init(stringLiteral text: String) { self.init(text) }

        static func code(_ text: String) -> Cell { Cell(text, isCode: true) }

        static func count(_ count: Int) -> Cell { Cell(count.grouped) }
    }

    /// A table of rows and columns.
    package struct Table: Sendable {
        package var title: String
        package var columns: [Column]
        /// The rows, each with a cell per column.
        package var rows: [[Cell]]
    }

    /// The findings of one collection, file or job.
    package struct Section: Sendable {
        package var name: String
        /// Remarks on the collection, file or job; empty if there are none.
        package var about = ""
        package var summary = ""
        /// The words for all documents of the collection, such as "all fit", with their number; `nil` if the section
        /// has findings.
        ///
        /// The text format shows one line for all such sections.
        package var uniform: (documents: Int, words: String)?
        package var columns: [Column] = []
        package var findings: [Finding] = []
        /// Remarks that follow the findings, one sentence each.
        package var remarks: [String] = []
    }

    /// A finding, which is a row in the section's table.
    package struct Finding: Sendable {
        package var level: Level
        /// Whether the finding makes the command exit with code 1.
        package var isFailure = false
        /// The rule's code, or another name for the kind of finding.
        package var code: String
        /// The subject of the finding, such as a path or a step; empty if there is none.
        package var subject = ""
        /// The position in a file that the finding applies to; `nil` if there is none.
        package var place: SourceLocation?
        /// The identity by which later reports recognize the finding; `nil` if its section, code and subject identify
        /// it.
        package var fingerprint: Fingerprint?
        /// The reason why the operator accepts the finding; `nil` for a finding that is not accepted.
        package var acceptance: String?
        /// The message of the finding, in one line.
        package var message: String
        /// Examples of the documents with the finding: their `_id`s, as in mongosh, each with the value if values are
        /// shown.
        package var samples: [String] = []
        /// Details that follow the message, one line each.
        package var details: [String] = []
        /// The source of the rule, which the text format shows only in a report file; `nil` if it is not shown.
        package var source: String?
        /// Further details.
        ///
        /// Only output formats without tables show them; formats with tables show the same facts in cells or other
        /// sections.
        package var asides: [String] = []
        /// The cells of the finding's row, in the order of the section's columns.
        package var cells: [Cell]
        /// Commands that repair the finding, for the reader to copy.
        package var commands: [String] = []
        /// Commands that find the documents of the finding, for the reader to copy.
        package var filters: [String] = []

        package var title: String { subject.isEmpty ? code : "\(code) \(subject)" }

        /// A line with the samples, if there are any, the details, and the source.
        package var remarks: [String] {
            (samples.isEmpty ? [] : ["such as _id \(samples.joined(separator: ", "))"]) + details
                + [source].compactMap(\.self)
        }
    }

    /// A chart of values over time, drawn as lines.
    package struct Series: Sendable {
        package var title: String
        package var unit: String
        package var lines: [Line]
        /// The labels of the points in time, which are at equal distances.
        package var points: [String]
        /// Periods that the chart marks, such as waits.
        package var spans: [Span] = []
        /// Whether each line's last value is shown; if not, the text format leaves out the series.
        package var showsLatest = true

        /// A line of the chart, with a value at each point in time.
        package struct Line: Sendable {
            package var name: String
            /// The level of the line, which decides its colour.
            package var level: Level
            /// The value at each point in time; `nil` if there is none.
            package var values: [Double?]
        }

        /// A marked period.
        ///
        /// Beginning and end are indices into the points of the series: 1.5 is halfway between the second point and the
        /// third.
        package struct Span: Sendable {
            package var from: Double
            package var to: Double
            package var reason: String
        }
    }

    package var findings: [(section: Section, finding: Finding)] {
        allSections.flatMap { section in section.findings.map { (section, $0) } }
    }

    /// The sections of this report, followed by the sections of each report in ``reports``.
    ///
    /// Each report in ``reports`` first gets a section with its headline. The names of its other sections begin with
    /// its name.
    package var allSections: [Section] {
        sections
            + reports.flatMap { name, report in
                [Section(name: name, summary: report.headline)]
                    + report.allSections.map { section in
                        var section = section
                        if !section.name.hasPrefix(name) { section.name = "\(name): \(section.name)" }
                        return section
                    }
            }
    }

    /// The tables that belong to no section: the tables of this report, followed by the tables of each report in
    /// ``reports``.
    package var allTables: [Table] {
        tables
            + reports.flatMap { name, report in
                report.allTables.map { Table(title: "\(name): \($0.title)", columns: $0.columns, rows: $0.rows) }
            }
    }

    package var allNotes: [String] { notes + warnings }
}

extension Report.Column {
    package init(stringLiteral title: String) { self.init(title: title) }
}
