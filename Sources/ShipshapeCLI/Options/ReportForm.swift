internal import ArgumentParser
internal import BSON
internal import Foundation
internal import Reporting

/// The forms that a command's report can take.
protocol ReportForm: ExpressibleByArgument, CaseIterable, Hashable, Sendable {
    /// The form for a person.
    static var text: Self { get }
    /// Creates the form that a file's ending names.
    init?(ending: String)
    /// The endings, in words.
    static var endings: String { get }
}

/// The forms of a plain report: text, or one JSON object.
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

/// The forms of a rich report, also for a pull request and for readers of a build's results.
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

/// The flags of a command that finds something.
typealias ResultFlags = ReportFlags<RichForm>

extension ReportFlags<RichForm> {
    /// Shows a result on standard output and writes the files that were asked for.
    func show(_ result: some Reportable) throws {
        let isColored = output == .text && Console.wantsColor(onTerminal: Console.isOutputTerminal)
        var layout = TextLayout(width: Console.outputWidth, isColored: isColored)
        layout.isPlain = !Console.speaksUnicode
        layout.hidesNotes = quiet
        let text = Self.text(of: result, as: output, layout)
        try show(onTerminal(text, isColored: isColored)) { Self.text(of: result, as: $0, .file) }
    }

    /// Returns a result in a form.
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

/// The flags of a command whose report is a text or a JSON object.
typealias OutputFlags = ReportFlags<PlainForm>

extension ReportFlags<PlainForm> {
    /// A form, with the width of the place where it is shown.
    enum Layout {
        case json
        /// Lines up to a width; `nil` for no limit.
        case text(width: Int?)
    }

    /// Shows a result on standard output and writes the files that were asked for.
    func show(_ render: (Layout, _ color: Bool) throws -> String) throws {
        try show { form, width, color in try render(form == .json ? .json : .text(width: width), color) }
    }
}

extension ServerTime {
    /// The time of this machine's clock.
    static var now: ServerTime { ServerTime(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1_000)) }
}
