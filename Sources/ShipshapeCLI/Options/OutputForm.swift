internal import ArgumentParser
internal import BSON
internal import Foundation
internal import Reporting

/// The output formats in which commands can show their results.
enum OutputForm: String, ExpressibleByArgument, CaseIterable, Sendable {
    case text, json, jsonl, markdown, html, junit, github, sarif, gitlab

    /// The ending of a file's name that selects the output format; `nil` if none does.
    private var ending: String? {
        switch self {
        case .text: ".txt"
        case .json: ".json"
        case .jsonl: ".jsonl"
        case .markdown: ".md"
        case .html: ".html"
        case .junit: ".xml"
        case .github: nil
        case .sarif: ".sarif"
        case .gitlab: ".gitlab.json"
        }
    }

    /// Creates the output format that the ending of a file's name selects; `nil` for an unknown ending.
    init?(path: String) {
        // `.gitlab.json` ends in `.json`, so the longest ending decides.
        let forms = Self.allCases.filter { $0.ending.map(path.hasSuffix) == true }
        guard let form = forms.max(by: { ($0.ending?.count ?? 0) < ($1.ending?.count ?? 0) }) else { return nil }
        self = form
    }

    /// The endings of files that select an output format, in words.
    static let endings: String = {
        let all = allCases.compactMap(\.ending)
        return all.dropLast().joined(separator: ", ") + " or " + all.suffix(1).joined()
    }()

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
