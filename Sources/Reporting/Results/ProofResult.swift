import BSON
package import Proving

/// The result of `doctor --prove`, in every output format.
package struct ProofResult: Reportable {
    private let proof: Proof
    private let source: String

    /// Wraps a proof.
    /// - Parameter source: the connection string without its secrets.
    package init(_ proof: Proof, source: String) {
        self.proof = proof
        self.source = source
    }

    /// Whether a case differs, or a group was asked about and nothing of it was answered.
    package var isFailed: Bool { proof.refusal != nil || proof.parts.contains { $0.differing > 0 || $0.isSilent } }

    private var level: Report.Level { isFailed ? .error : .good }

    private var headline: String {
        let cases = proof.parts.map(\.cases).reduce(0, +)
        let differing = proof.parts.map(\.differing).reduce(0, +)
        let server = "MongoDB \(proof.version) at \(source)"
        if let refusal = proof.refusal { return "\(server) cannot be compared with this program: \(refusal)" }
        if differing > 0 {
            return "\(server) differs from this program in \(differing.grouped) of \(cases.grouped) cases."
        }
        let silent = proof.parts.filter(\.isSilent).map(\.group.rawValue).joined(separator: ", ")
        return "\(server): \(cases.counted("case")), no difference from this program"
            + (silent.isEmpty ? "" : ", but \(silent) could not be tried")
            + (proof.isStopped ? "; the proof was stopped before its time." : ".")
    }

    /// The advice about the differences; empty if there are none.
    private var advice: [String] {
        let groups = Set(proof.differences.map(\.group))
        guard !groups.isEmpty else { return [] }
        var limits = groups.contains(.judging) ? ["do not rely on check with a validator"] : []
        if !groups.isDisjoint(with: [.reading, .writing]) {
            limits.append("run no job")
        } else if groups.contains(.computing) {
            limits.append("run jobs only with backfill --prove, which compares the steps of each")
        }
        return [
            "On this server, \(limits.joined(separator: ", and ")).",
            "Please send the file of --report proof.json to the project.",
        ]
    }

    private var repetition: String {
        "To repeat these cases: --seed \(proof.seed) (a slower run compares fewer of them)"
    }

    package func text(_ layout: TextLayout) -> String {
        let paint = Paint(isOn: layout.isColored)
        if layout.isQuiet { return paint(level, headline).fitted(to: layout.width) + "\n" }
        let rows = proof.parts.map { part in
            [part.group.rawValue, part.amount, part.time, part.outcome].map { Report.Cell($0) }
        }
        let grid = TextGrid(columns: ["", .number(""), .number(""), ""], rows: rows, paint: paint)
        let lines = zip(proof.parts, grid.lines(within: nil)?.rows ?? []).flatMap { part, lines in
            lines + part.notes.flatMap { $0.printable.wrapped(to: layout.width, indent: 4) }
        }
        var blocks = [paint(level, headline)] + (lines.isEmpty ? [] : [lines.joined(separator: "\n")])
        blocks += proof.differences.map { difference in
            let lines =
                ["\(difference.group.rawValue): \(difference.subject)"]
                + (difference.reproduction.isEmpty ? [] : ["  case:    \(difference.reproduction.shown)"])
                + ["  program: \(difference.program)", "  server:  \(difference.server)"]
            return lines.map(\.printable).joined(separator: "\n")
        }
        if proof.refusal == nil { blocks.append((advice + [repetition]).joined(separator: "\n")) }
        return blocks.joined(separator: "\n\n").fitted(to: layout.width) + "\n"
    }

    package var json: JSONReport {
        let groups = proof.parts.map { part in
            [
                "group": part.group.rawValue, "cases": part.cases, "seconds": Int(part.seconds.rounded()),
                "unanswered": part.unanswered, "known": part.known,
                "differing": part.differing,
                "notTried": part.restriction, "firstFailure": part.firstFailure,
                "counts": ReportValue.object(
                    part.counts.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) }),
            ] as ReportValue
        }
        let differences = proof.differences.map { difference in
            [
                "group": difference.group.rawValue, "subject": difference.subject,
                "case": difference.reproduction.shown, "program": difference.program, "server": difference.server,
            ] as ReportValue
        }
        return JSONReport(
            "doctor proof",
            [
                "server": proof.version, "source": source, "seed": "\(proof.seed)",
                "refusal": proof.refusal, "groups": groups, "differences": differences,
            ])
    }

    package var report: Report {
        var report = Report(command: "doctor proof", title: source, headline: headline, level: level)
        report.style.sectionKind = "group"
        report.sections = proof.parts.map { part in
            Report.Section(
                name: [part.group.rawValue, part.amount, part.outcome].filter { !$0.isEmpty }.joined(separator: ", "),
                columns: ["what", "case", "program", "server"],
                findings: part.differences.map { difference in
                    Report.Finding(
                        level: .error, isFailure: true, code: difference.group.rawValue,
                        message: "\(difference.subject): \(difference.program), and the server: \(difference.server)",
                        cells: [
                            difference.subject, difference.reproduction.shown, difference.program, difference.server,
                        ].map { Report.Cell($0) })
                })
        }
        report.notes = proof.parts.flatMap { part in part.notes.map { "\(part.group.rawValue): \($0)" } }
        report.notes += advice + [repetition]
        return report
    }
}

extension Proof.Part {
    /// Whether cases were asked, and the server answered none of them.
    fileprivate var isSilent: Bool { cases == 0 && unanswered > 0 }

    fileprivate var amount: String { cases == 0 ? "" : cases.counted("case") }
    fileprivate var time: String { cases == 0 ? "" : "\(Int(seconds.rounded())) s" }

    fileprivate var outcome: String {
        if differing > 0 { return differing.counted("difference") }
        return cases == 0 ? "not tried" : "no difference"
    }

    /// The facts of the group beyond its numbers.
    fileprivate var notes: [String] {
        var notes: [String] = []
        if let restriction { notes.append(restriction) }
        if known > 0 { notes.append("\(known.counted("case")) left out: this version is known to differ (servers.md)") }
        if unanswered > 0, restriction == nil {
            notes.append(
                "\(unanswered.counted("case")) without an answer" + (firstFailure.map { "; the first: \($0)" } ?? ""))
        }
        return notes
    }
}
