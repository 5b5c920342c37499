import BSON
package import Partners

/// The state of a partner collection, in every output format.
package struct PartnerStatusResult: Reportable {
    private let found: PartnerStatus
    private let ids: IDDisplay

    package init(_ status: PartnerStatus, ids: IDDisplay = .shown) { (found, self.ids) = (status, ids) }

    package var json: JSONReport {
        func time(_ milliseconds: Int64?) -> String? { milliseconds.map { "\(ServerTime(milliseconds: $0))" } }
        return JSONReport(
            "status partner",
            [
                "partner": found.name, "source": "\(found.source)", "target": "\(found.target)", "phase": found.phase,
                "copied": found.copied, "at_work": found.isHeld, "behind_seconds": found.lag,
                "unmirrored": found.unmirrored, "differences": found.differences, "verified": time(found.verified),
                "source_written": time(found.lastWrites[.source]), "target_written": time(found.lastWrites[.target]),
            ])
    }

    package var report: Report {
        let isClean = found.unmirrored == 0 && found.differences ?? 0 == 0
        var report = Report(
            command: "status partner", title: "Partner \(found.name)",
            headline: "partner \(found.name): \(found.source) → \(found.target)", level: isClean ? .notice : .warning)
        guard let phase = found.phase else {
            report.lines = ["not begun: run partner init"]
            return report
        }
        report.lines = ["\(phase), \(found.copied.documents) copied" + (found.isHeld ? ", running now" : "")]
        if let lag = found.lag {
            let carried = found.mirror?["carried"]?.integer ?? 0
            let conflicts = found.mirror?["conflicts"]?.integer ?? 0
            report.lines.append(
                "the mirror is \(lag.grouped) s behind; in its last run it carried \(carried.documents) over, "
                    + "with \(conflicts.counted("conflict"))")
        } else if phase == "copied" {
            report.lines.append("no mirror has run: run partner mirror")
        }
        for (side, name) in [(PartnerSide.source, "original"), (.target, "partner")] {
            guard let time = found.lastWrites[side] else { continue }
            report.lines.append("clients last wrote to the \(name) at \(ServerTime(milliseconds: time))")
        }
        if let differences = found.differences, let time = found.verified {
            report.lines.append("compared at \(ServerTime(milliseconds: time)): \(differences.counted("difference"))")
        } else {
            report.lines.append("not compared: run partner verify")
        }
        report.tables = [
            Report.Table(
                title: "\(found.unmirrored.documents) not on the other side",
                columns: ["side", "_id", "reason"],
                rows: found.samples.map { sample in
                    let id = Report.Cell.code(ids.text(sample.id) ?? "(hidden)")
                    return [Report.Cell(sample.side), id, Report.Cell(sample.reason)]
                })
        ]
        return report
    }
}
