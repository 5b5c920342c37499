import BSON
public import ServerSchema

/// Results as JUnit's XML, which build servers show as tests.
///
/// Source: the schema that Jenkins and GitLab read: `testsuites`, `testsuite`, `testcase`, `failure`, `system-out`.
public struct JUnitReport: Sendable {
    /// One result.
    public struct Case: Hashable, Sendable {
        /// What it belongs to.
        public var group: String
        /// What it is of.
        public var name: String
        /// Where it is.
        public var place: SourceLocation?
        /// The kind of failure; `nil` when it does not fail.
        public var failure: String?
        /// What is to be said in one line.
        public var message: String
        /// What is to be said beside.
        public var details: String

        /// Joins the parts.
        public init(
            group: String, name: String, place: SourceLocation? = nil, failure: String? = nil, message: String,
            details: String = ""
        ) {
            self.group = group
            self.name = name
            self.place = place
            self.failure = failure
            self.message = message
            self.details = details
        }
    }

    private let name: String
    private let cases: [Case]

    /// Names the results.
    public init(name: String, cases: [Case]) {
        self.name = name
        self.cases = cases
    }

    /// Wraps a report: a test case for each part of the verdict and each finding, or one for the verdict where there is
    /// neither: readers take a file without a case for a run that did nothing.
    package init(_ report: Report) {
        let name = "shipshape \(report.command)"
        let parts = report.parts.map { part in
            Case(
                group: name, name: part.name, failure: part.isFailure ? part.word : nil,
                message: part.sentence.printable,
                details: part.reasons.map(\.printable).joined(separator: "\n"))
        }
        let findings = report.findings.map { section, finding in
            Case(
                group: section.name, name: finding.title, place: finding.place,
                failure: finding.isFailure ? finding.code : nil, message: finding.message.printable,
                details: (finding.sentences + finding.commands).map(\.printable).joined(separator: "\n"))
        }
        let verdict = Case(
            group: name, name: "verdict", failure: report.level == .error ? "failed" : nil,
            message: report.headline.printable)
        self.init(
            name: "\(name): \(report.title)", cases: parts.isEmpty && findings.isEmpty ? [verdict] : parts + findings)
    }

    /// The XML text, which ends with a line break.
    public var text: String {
        let counts = "tests=\"\(cases.count)\" failures=\"\(cases.count { $0.failure != nil })\" errors=\"0\""
        let title = Markup.attribute("name", name)
        let suite = ["  <testsuite\(title) \(counts) skipped=\"0\">"] + cases.map(element) + ["  </testsuite>"]
        let lines =
            [#"<?xml version="1.0" encoding="UTF-8"?>"#, "<testsuites\(title) \(counts)>"] + suite + ["</testsuites>"]
        return lines.joined(separator: "\n") + "\n"
    }

    private func element(_ result: Case) -> String {
        var attributes = Markup.attribute("classname", result.group) + Markup.attribute("name", result.name)
        if let place = result.place {
            attributes += Markup.attribute("file", place.file)
            if place.line > 0 { attributes += Markup.attribute("line", "\(place.line)") }
        }
        let all = ([result.message] + (result.details.isEmpty ? [] : [result.details])).joined(separator: "\n")
        let body =
            if let failure = result.failure {
                "<failure\(Markup.attribute("type", failure))\(Markup.attribute("message", result.message))>"
                    + "\(Markup.text(all))</failure>"
            } else {
                "<system-out>\(Markup.text(all))</system-out>"
            }
        return "    <testcase\(attributes)>\n      \(body)\n    </testcase>"
    }
}
