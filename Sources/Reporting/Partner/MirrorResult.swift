import BSON
package import Partners

/// The result of a mirror's run, in every output format.
package struct MirrorResult: Reportable {
    private let outcome: MirrorOutcome
    private let name: String
    private let next: [String]

    package init(_ outcome: MirrorOutcome, of name: String, next: [String] = []) {
        (self.outcome, self.name, self.next) = (outcome, name, next)
    }

    private var counts: MirrorCounts { outcome.counts }

    package var json: JSONReport {
        JSONReport(
            "partner mirror",
            [
                "partner": name, "changes": counts.changes, "to_target": counts.carried[.source] ?? 0,
                "to_source": counts.carried[.target] ?? 0, "echoes": counts.echoes, "conflicts": counts.conflicts,
                "refused": counts.refused, "lag_ms": counts.lag, "delay_p50_ms": counts.delays.median,
                "delay_p99_ms": counts.delays.percentile99, "caught_up": outcome.isCaughtUp,
            ])
    }

    package var report: Report {
        var report = Report(
            command: "partner mirror", title: "Partner \(name)",
            headline: "partner \(name): \(counts.written.documents) carried over, of "
                + counts.changes.counted("change"),
            level: counts.refused > 0 || !outcome.isCaughtUp ? .warning : .good)
        let (toPartner, toOriginal) = (counts.carried[.source] ?? 0, counts.carried[.target] ?? 0)
        report.figures.facts = [
            ("to the partner", toPartner), ("to the original", toOriginal), ("conflicts", counts.conflicts),
            ("cannot be carried over", counts.refused),
        ].map { Report.Fact($0, $1) }
        let lines = [
            "\(toPartner.grouped) to the partner, \(toOriginal.grouped) to the original; \(counts.echoes.grouped) "
                + "changes were the mirror's own",
            counts.delays == (0, 0)
                ? nil
                : "half of the changes took up to \(counts.delays.median.grouped) ms, 99% up to "
                    + "\(counts.delays.percentile99.grouped) ms",
            counts.conflicts == 0 ? nil : "\(counts.conflicts.counted("pair")) had changed on both sides",
            counts.refused == 0
                ? nil : "\(counts.refused.documents) cannot be on the other side: status PARTNER.yml lists them",
            outcome.isCaughtUp ? nil : "stopped before all changes were carried over: the next run continues there",
        ]
        report.lines = lines.compactMap(\.self)
        report.next = next
        return report
    }
}
