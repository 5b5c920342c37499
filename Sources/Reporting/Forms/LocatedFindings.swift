import BSON
import ServerSchema

/// The findings and the failing parts of a report, for output formats in which each of them needs a position in a file
/// and a fingerprint.
struct LocatedFindings {
    /// A finding, or a part of the verdict that makes the command exit with code 1.
    struct Entry {
        let code: String
        let isFailure: Bool
        let level: Report.Level
        let message: String
        let details: [String]
        /// The position of the entry.
        ///
        /// A part of the verdict, and a finding without a position, get the report's file as their position. If the
        /// report has no file either, a finding gets the name of its section, and a part gets the command, such as
        /// `shipshape check`.
        let place: SourceLocation
        /// The name of the thing that has the finding, such as a collection and a path.
        let subject: String
        /// The identity of the finding, unique in the report.
        let fingerprint: Fingerprint
        let acceptance: String?
    }

    /// The failing parts of the verdict, then the findings.
    let entries: [Entry]

    init(_ report: Report) {
        var seen: [Fingerprint: Int] = [:]
        func unique(_ fingerprint: Fingerprint) -> Fingerprint {
            seen[fingerprint, default: 0] += 1
            guard let count = seen[fingerprint], count > 1 else { return fingerprint }
            return Fingerprint(of: [fingerprint.description, "\(count)"])
        }
        func place(_ own: SourceLocation?, _ name: String) -> SourceLocation {
            guard var place = own else { return SourceLocation(whole: Self.relative(report.file ?? name)) }
            place.file = Self.relative(place.file)
            return place
        }
        let parts = report.parts.filter(\.isFailure).map { part in
            Entry(
                code: part.name, isFailure: true, level: part.level, message: part.sentence.printable,
                details: part.reasons.map(\.printable), place: place(nil, "shipshape \(report.command)"),
                subject: part.name, fingerprint: unique(Fingerprint(of: [report.command, part.name])),
                acceptance: nil)
        }
        let findings = report.findings.map { section, finding in
            let own =
                finding.fingerprint
                ?? Fingerprint(of: [report.command, section.name, finding.code, finding.subject])
            return Entry(
                code: finding.code, isFailure: finding.isFailure, level: finding.level,
                message: "\(section.name): \(finding.message)".printable,
                details: (finding.asides + finding.remarks).map(\.printable),
                place: place(finding.place, section.name),
                subject: finding.subject.isEmpty ? section.name : "\(section.name) \(finding.subject)",
                fingerprint: unique(own), acceptance: finding.acceptance)
        }
        entries = parts + findings
    }

    /// Returns a path without a leading `./`, because some tools take `./a` and `a` for two files.
    private static func relative(_ path: String) -> String {
        var path = path[...]
        while path.hasPrefix("./"), path.count > 2 { path = path.dropFirst(2) }
        return String(path)
    }
}
