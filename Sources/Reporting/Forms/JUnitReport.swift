import BSON
import ServerSchema

/// A command's results as JUnit XML, which build servers show as tests.
///
/// Source: the schema that Jenkins and GitLab read: `testsuites`, `testsuite`, `testcase`, `failure`, `system-out`.
package struct JUnitReport: Sendable {
    struct Case {
        /// The group of test cases that the case belongs to, such as a collection; the `classname` in XML.
        let group: String
        let name: String
        var place: SourceLocation?
        /// The kind of failure; `nil` if the case passes.
        var failure: String?
        let message: String
        var details = ""
    }

    let name: String
    let cases: [Case]
}

extension JUnitReport {
    /// Creates the JUnit form of a report, with a test case for each part of the verdict and each finding.
    ///
    /// If the report has neither parts nor findings, its verdict is the only case, because build servers take a file
    /// without cases for an empty run.
    package init(_ report: Report) {
        let name = "shipshape \(report.command)"
        let parts = report.parts.map { part in
            Case(
                group: name, name: part.name, failure: part.isFailure ? part.word : nil,
                message: part.sentence.printable, details: part.reasons.map(\.printable).joined(separator: "\n"))
        }
        let findings = report.findings.map { section, finding in
            Case(
                group: section.name, name: finding.title, place: finding.place,
                failure: finding.isFailure ? finding.code : nil, message: finding.message.printable,
                details: (finding.asides + finding.remarks + finding.commands + finding.filters).map(\.printable)
                    .joined(separator: "\n"))
        }
        let verdict = Case(
            group: name, name: "verdict", failure: report.level == .error ? "failed" : nil,
            message: report.headline.printable)
        self.init(
            name: "\(name): \(report.title)", cases: parts.isEmpty && findings.isEmpty ? [verdict] : parts + findings)
    }

    /// The XML text, which ends with a line break.
    package var text: String {
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
