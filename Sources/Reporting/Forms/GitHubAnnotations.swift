import BSON
import ServerSchema

/// Annotations as GitHub workflow commands, one per line.
///
/// GitHub's runner shows them in the pull request. Source: GitHub's documentation, "Workflow commands for GitHub
/// Actions".
package struct GitHubAnnotations: Sendable {
    /// A message, with its position in a file if it has one.
    struct Annotation {
        let level: Report.Level
        var place: SourceLocation?
        let title: String
        let message: String
    }

    let annotations: [Annotation]
    /// A plain line after the annotations; `nil` for annotations without a report.
    var headline: String?
}

extension GitHubAnnotations {
    /// Creates the annotations of a report.
    ///
    /// Each part of the verdict and each finding that makes the command exit with code 1 becomes an error. Each other
    /// finding becomes a warning or a notice, depending on its level. Each note and each warning of the report becomes
    /// a notice.
    package init(_ report: Report) {
        let parts = report.parts.filter(\.isFailure).map { part in
            Annotation(
                level: .error, title: "\(part.name) (\(part.word))",
                message: ([part.sentence] + part.reasons).map(\.printable).joined(separator: "\n"))
        }
        let findings = report.findings.map { section, finding in
            Annotation(
                level: finding.isFailure ? .error : finding.level >= .warning ? .warning : .notice,
                place: finding.place, title: finding.title,
                message: (["\(section.name): \(finding.message)"] + finding.asides + finding.remarks).map(\.printable)
                    .joined(separator: "\n"))
        }
        let notes = report.allNotes.map { Annotation(level: .notice, title: "note", message: $0.printable) }
        annotations = parts + findings + notes
        headline = report.headline.printable
    }

    /// The GitHub commands and the headline, each followed by a line break.
    package var text: String { annotations.map { line($0) + "\n" }.joined() + (headline.map { $0 + "\n" } ?? "") }

    private func line(_ annotation: Annotation) -> String {
        var properties: [(String, String)] = []
        if let place = annotation.place {
            properties.append(("file", place.file))
            if place.line > 0 { properties += [("line", "\(place.line)"), ("col", "\(place.column)")] }
        }
        properties.append(("title", annotation.title))
        let list = properties.map { "\($0)=\(Self.escaping("%\r\n:,", in: $1))" }.joined(separator: ",")
        return "::\(annotation.level) \(list)::\(Self.escaping("%\r\n", in: annotation.message))"
    }

    /// Returns the text with the special characters in percent encoding, and with misleading characters and the second
    /// of two adjacent `#` as JSON escapes.
    ///
    /// The function reads the text scalar by scalar, because Swift treats a carriage return with a line feed as one
    /// character.
    private static func escaping(_ special: String, in text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.misleads && scalar != "\n" && scalar != "\r" || scalar == "#" && result.last == "#" {
                result += scalar.escapedAsJSON
            } else if special.unicodeScalars.contains(scalar) {
                result += Hyperlink.encoded(String(scalar))
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
