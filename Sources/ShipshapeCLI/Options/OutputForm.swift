internal import ArgumentParser
internal import BSON
internal import Foundation
internal import Reporting
internal import SystemPackage

/// The output formats in which commands can show their results.
enum OutputForm: String, ExpressibleByArgument, CaseIterable, Sendable {
    case text, json, jsonl, markdown, html, junit, github, sarif, gitlab

    /// Creates the output format that the ending of a file's name selects; `nil` for an unknown ending.
    init?(path: String) {
        guard !path.hasSuffix(".gitlab.json") else {
            self = .gitlab
            return
        }
        switch FilePath(path).extension {
        case "txt": self = .text
        case "json": self = .json
        case "jsonl": self = .jsonl
        case "md": self = .markdown
        case "html": self = .html
        case "xml": self = .junit
        case "sarif": self = .sarif
        default: return nil
        }
    }

    /// The endings of files that select an output format, in words.
    static let endings = ".txt, .json, .jsonl, .md, .html, .xml, .sarif or .gitlab.json"

    /// Returns a result in this output format.
    func text(of result: some Reportable, _ layout: TextLayout) -> String {
        switch self {
        case .text: result.text(layout)
        case .json: result.json.text
        case .jsonl: result.json.lines
        case .markdown: MarkdownReport(result.report).text
        case .html: HTMLReport(result.report, at: .now).text
        case .junit: JUnitReport(result.report).text
        case .github: GitHubAnnotations(result.report).text
        case .sarif: SARIFReport(result.report).text
        case .gitlab: GitLabReport(result.report).text
        }
    }
}

extension ServerTime {
    /// The time of this machine's clock.
    static var now: ServerTime { ServerTime(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1_000)) }
}
