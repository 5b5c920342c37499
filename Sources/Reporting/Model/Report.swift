package import ServerSchema

/// What a command found, in the parts that every form shows.
///
/// Each command's result is turned into it once; Markdown, HTML, JUnit's XML and GitHub's commands are rendered from it
/// alone, by one renderer each. Texts are as they were found: each renderer escapes them by the rules of its form.
package struct Report: Sendable {
    /// How good or bad something is.
    package enum Level: String, Hashable, Sendable, CaseIterable, Comparable {
        case good, notice, warning, error

        /// The worse one is greater.
        package static func < (left: Level, right: Level) -> Bool {
            (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
        }
    }

    /// The command that found it.
    package var command: String
    /// What it is about.
    package var title: String
    /// The verdict, in one sentence.
    package var headline: String
    /// How good or bad the verdict is.
    package var level: Level
    /// What the verdict comes from.
    package var parts: [Part] = []
    /// Single figures.
    package var facts: [Fact] = []
    /// How close something is to its limit.
    package var gauges: [Gauge] = []
    /// Amounts beside each other.
    package var charts: [Chart] = []
    /// What was found, by what it is of.
    package var sections: [Section] = []
    /// Further tables.
    package var tables: [Table] = []
    /// What changes over time.
    package var series: [Series] = []
    /// What the reader should know beside, a sentence each.
    package var notes: [String] = []
    /// What sections are of, as the head of a column.
    package var sectionKind = "collection"

    /// Joins what every report has.
    package init(command: String, title: String, headline: String, level: Level) {
        self.command = command
        self.title = title
        self.headline = headline
        self.level = level
    }
}

extension Report {
    /// One of the things that a verdict comes from.
    package struct Part: Sendable {
        /// What it is about.
        package var name: String
        package var level: Level
        /// Its own verdict, in a word.
        package var word: String
        /// Whether it makes the command end with 1.
        package var isFailure = false
        /// What it comes to.
        package var sentence: String
        /// What else is to be known, a sentence each.
        package var reasons: [String] = []
    }

    /// A figure and what it is.
    package struct Fact: Sendable {
        package var name: String
        package var value: String
    }

    /// Amounts that add up towards a limit.
    package struct Gauge: Sendable {
        package var title: String
        /// What the amounts come to, in a sentence.
        package var summary: String
        package var limit: Int
        package var amounts: [Amount]
    }

    /// An amount and what it is of.
    package struct Amount: Sendable {
        package var name: String
        package var value: Int
        package var level: Level
    }

    /// Bars, each of one or more amounts.
    package struct Chart: Sendable {
        package var title: String
        /// What the bars are of, as the head of a column.
        package var kind: String
        package var bars: [Bar]
    }

    /// A bar of amounts.
    package struct Bar: Sendable {
        package var name: String
        package var amounts: [Amount]
    }

    /// A column of a table.
    package struct Column: Sendable {
        package var title: String
        /// Whether it holds figures, which stand at the right.
        package var isNumber = false
    }

    /// A cell of a table.
    package struct Cell: Sendable, ExpressibleByStringInterpolation {
        package var text: String
        /// What it says of the row, where it is a verdict.
        package var level: Level?
        /// Whether it is a name or a path, letter by letter.
        package var isCode = false

        package init(_ text: String, level: Level? = nil, isCode: Bool = false) {
            self.text = text
            self.level = level
            self.isCode = isCode
        }

        package init(stringLiteral text: String) { self.init(text) }
    }

    /// Rows below their columns.
    package struct Table: Sendable {
        package var title: String
        package var columns: [Column]
        package var rows: [[Cell]]
    }

    /// What was found of one collection, file or job.
    package struct Section: Sendable {
        package var name: String
        /// What is true of it as a whole.
        package var summary = ""
        package var columns: [Column] = []
        package var findings: [Finding] = []
        /// What else is to be known of it, a sentence each.
        package var remarks: [String] = []
    }

    /// One thing that was found.
    package struct Finding: Sendable {
        package var level: Level
        /// Whether it makes the command end with 1.
        package var isFailure: Bool
        /// The rule's code, or what else names its kind.
        package var code: String
        /// What it is of: a path, a step.
        package var subject: String
        /// Where it stands in a file.
        package var place: SourceLocation?
        /// What is to be said, in one line.
        package var message: String
        /// What is to be said beside, a line each.
        package var details: [String] = []
        /// What to do, where a cell says so already: for forms without cells.
        package var remedy: String?
        /// Its cells, in the order of the section's columns.
        package var cells: [Cell]
        /// What can be copied to look closer or to act, a command each.
        package var commands: [String] = []

        /// What is to be said where there are no cells, a line each.
        var sentences: [String] { details + [remedy].compactMap(\.self) }

        /// Its kind and what it is of.
        package var title: String { subject.isEmpty ? code : "\(code) \(subject)" }
    }

    /// Values in the order of time.
    package struct Series: Sendable {
        package var title: String
        package var unit: String
        /// What the lines are.
        package var lines: [Line]
        /// What the points are, at equal distances.
        package var points: [String]
        /// Stretches during which something held.
        package var spans: [Span] = []
        /// Whether the last values are worth being told beside the lines' names.
        package var showsLatest = true

        /// A line through the points; `nil` where there is no value.
        package struct Line: Sendable {
            package var name: String
            package var level: Level
            package var values: [Double?]
        }

        /// A stretch, in points from the first one.
        package struct Span: Sendable {
            package var from: Double
            package var to: Double
            package var reason: String
        }
    }

    /// All findings with the sections that they are of.
    package var findings: [(section: Section, finding: Finding)] {
        sections.flatMap { section in section.findings.map { (section, $0) } }
    }
}
