import BSON
import Concurrency
package import Partners

/// Shows the state of a partner as text or JSON.
package enum PartnerStatusReport {
    /// Returns the report as text.
    package static func text(_ status: PartnerStatus, ids: IDDisplay = .shown) -> String {
        var lines = ["partner \(status.name): \(status.source) → \(status.target)"]
        guard let phase = status.phase else { return lines[0] + "\n  not begun: run partner init" }
        lines.append("  \(phase), \(status.copied.documents) copied" + (status.isHeld ? ", running now" : ""))
        if let lag = status.lag {
            let counts = status.mirror
            let carried = counts?["carried"]?.integer ?? 0
            let conflicts = counts?["conflicts"]?.integer ?? 0
            lines.append(
                "  the mirror is \(lag.grouped) s behind; in its last run it carried \(carried.documents) over, "
                    + "with \(conflicts.counted("conflict"))")
        } else if phase == "copied" {
            lines.append("  no mirror has run: run partner mirror")
        }
        for (side, name) in [(PartnerSide.source, "original"), (.target, "partner")] {
            guard let time = status.lastWrites[side] else { continue }
            lines.append("  clients last wrote to the \(name) at \(ServerTime(milliseconds: time))")
        }
        if status.unmirrored > 0 {
            lines.append("  \(status.unmirrored.documents) not on the other side:")
            for sample in status.samples {
                lines.append("    \(sample.side) _id \(ids.text(sample.id) ?? "(hidden)"): \(sample.reason)")
            }
        }
        if let differences = status.differences, let time = status.verified {
            lines.append("  compared at \(ServerTime(milliseconds: time)): \(differences.counted("difference"))")
        } else {
            lines.append("  not compared: run partner verify")
        }
        return lines.joined(separator: "\n")
    }

    /// Returns the report as one JSON object with its keys in a fixed order.
    package static func json(_ status: PartnerStatus, ids: IDDisplay = .shown) -> String {
        func time(_ milliseconds: Int64?) -> ReportValue {
            milliseconds.map { .string("\(ServerTime(milliseconds: $0))") } ?? .null
        }
        func number(_ value: Int?) -> ReportValue { value.map { .integer($0) } ?? .null }
        return ReportValue.object(
            PartnerJSON.head("partner status") + [
                ("partner", .string(status.name)), ("source", .string("\(status.source)")),
                ("target", .string("\(status.target)")), ("phase", status.phase.map { .string($0) } ?? .null),
                ("copied", .integer(status.copied)), ("at_work", .bool(status.isHeld)),
                ("behind_seconds", number(status.lag)), ("unmirrored", .integer(status.unmirrored)),
                ("differences", number(status.differences)), ("verified", time(status.verified)),
                ("source_written", time(status.lastWrites[.source])),
                ("target_written", time(status.lastWrites[.target])),
            ]
        ).text() + "\n"
    }
}
