internal import ArgumentParser
internal import BSON
internal import Foundation
internal import Reporting

/// The output formats in which a command can show its report, here called forms.
protocol ReportForm: ExpressibleByArgument, CaseIterable, Hashable, Sendable {
    /// The output format for a person.
    static var text: Self { get }
    /// Creates the output format for files with this ending; `nil` for an unknown ending.
    init?(ending: String)
    /// The endings of files for all output formats, in words.
    static var endings: String { get }
}

/// The output formats of a command with a simple report: text, or one JSON object.
enum PlainForm: String, ReportForm {
    case text, json

    init?(ending: String) {
        switch ending {
        case "txt": self = .text
        case "json": self = .json
        default: return nil
        }
    }

    static let endings = ".json or .txt"
}

/// The output formats of a command with findings, some of them for pull requests and build servers.
enum RichForm: String, ReportForm {
    case text, json, jsonl, markdown, html, junit, github

    init?(ending: String) {
        switch ending {
        case "txt": self = .text
        case "json": self = .json
        case "jsonl": self = .jsonl
        case "md": self = .markdown
        case "html": self = .html
        case "xml": self = .junit
        default: return nil
        }
    }

    static let endings = ".txt, .json, .jsonl, .md, .html or .xml"
}

/// The output flags of a command with findings.
typealias ResultFlags = ReportFlags<RichForm>

extension ReportFlags<RichForm> {
    /// Shows a result on standard output and writes the files that the operator asked for.
    func show(_ result: some Reportable) throws {
        let isColored = output == .text && Console.wantsColor(onTerminal: Console.isOutputTerminal)
        var layout = TextLayout(width: Console.outputWidth, isColored: isColored)
        layout.isPlain = !Console.speaksUnicode
        layout.hidesNotes = quiet
        let text = Self.text(of: result, as: output, layout)
        try show(onTerminal(text, isColored: isColored)) { Self.text(of: result, as: $0, .file) }
    }

    /// Returns a result in an output format.
    static func text(of result: some Reportable, as form: RichForm, _ layout: TextLayout) -> String {
        switch form {
        case .text: result.text(layout)
        case .json: result.json.text
        case .jsonl: result.json.lines
        case .markdown: MarkdownReport(result.report).text
        case .html: HTMLReport(result.report, at: .now).text
        case .junit: JUnitReport(result.report).text
        case .github: GitHubAnnotations(result.report).text
        }
    }
}

/// The output flags of a command whose report is a text or one JSON object.
typealias OutputFlags = ReportFlags<PlainForm>

extension ReportFlags<PlainForm> {
    /// The output format of a result, and for text the width of the terminal.
    enum Layout {
        case json
        /// Text in lines of at most `width` columns; `nil` for no limit.
        case text(width: Int?)
    }

    /// Shows a result on standard output and writes the files that the operator asked for.
    func show(_ render: (Layout, _ color: Bool) throws -> String) throws {
        try show { form, width, color in try render(form == .json ? .json : .text(width: width), color) }
    }
}

extension ServerTime {
    /// The time of this machine's clock.
    static var now: ServerTime { ServerTime(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1_000)) }
}
