import BSON
public import SchemaChange

/// The changes between two schemas in the forms that build servers and pull requests take.
public struct DiffForms: Sendable {
    private let report: DiffReport

    /// Wraps a report.
    public init(_ report: DiffReport) { self.report = report }

    /// GitHub's workflow commands: what fails the run is an error, what breaks beside a warning, the rest a notice.
    public var gitHub: String {
        let changes = report.groups.flatMap(\.changes).map { index in
            let change = report.changes[index]
            let level: Annotation.Level =
                report.fails(change) ? .error : change.kind.verdict == .breaking ? .warning : .notice
            return Annotation(
                level, at: change.place, title: "\(change.code) (\(change.kind.verdict.word))",
                message: ([message(change)] + details(index)).joined(separator: "\n"))
        }
        let hints = report.hints.map { hint in
            Annotation(
                .notice, at: hint.added.place, title: "looks like a rename",
                message:
                    "\(hint.removed.description): \(hint.reason). If it is a rename, say --rename \(hint.rename.shellWord)"
                    .printable)
        }
        let notes = report.notes.map { Annotation(.notice, title: "note", message: $0.printable) }
        return GitHubAnnotations(changes + hints + notes).text + report.headline.printable + "\n"
    }

    /// JUnit's XML: a test case for each change, which fails when the change fails the run.
    public var jUnit: String {
        let cases = report.groups.flatMap { group in
            group.changes.map { index in
                let change = report.changes[index]
                return JUnitReport.Case(
                    group: group.name, name: "\(change.code) \(change.path)", place: change.place,
                    failure: report.fails(change) ? change.code.rawValue : nil, message: message(change),
                    details: details(index).joined(separator: "\n"))
            }
        }
        return JUnitReport(name: "shipshape diff \(report.old) \(report.new)", cases: cases).text
    }

    private func message(_ change: SchemaChange) -> String {
        let place = change.namespace.map { "\($0): " } ?? ""
        return "\(place)\(change.description) (server: \(change.server.word), clients: \(change.client.word))".printable
    }

    private func details(_ index: Int) -> [String] {
        let change = report.changes[index]
        let hint = report.hint(for: change).map { "If it is a rename: --rename \($0.rename.shellWord)" }
        return [report.weight(index).map { "\($0)." }, change.kind.consequenceWords, change.kind.advice, hint]
            .compactMap(\.self).filter { !$0.isEmpty }.map(\.printable)
    }
}
