import BSON
package import Partners
import Running

/// The plan of a partner collection, or the result of creating the collection, in every output format.
package struct PartnerInitResult: Reportable {
    private let plan: PartnerPlan
    private let created: PartnerReport?
    private let ids: IDDisplay
    private let next: [String]

    /// Creates the result from a plan and the report of the run.
    /// - Parameters:
    ///   - report: the report of the run; `nil` for the plan alone.
    ///   - next: lines that propose the next command; none if the operator has to fix something first.
    package init(_ plan: PartnerPlan, _ report: PartnerReport?, ids: IDDisplay = .shown, next: [String] = []) {
        (self.plan, created, self.ids, self.next) = (plan, report, ids, next)
    }

    package var json: JSONReport {
        let refusals = created.map(\.refusals).flatMap { $0.count > 0 ? $0 : nil } ?? plan.refusals
        return JSONReport(
            "partner init",
            [
                "partner": plan.name, "source": "\(plan.source)", "target": "\(plan.target)",
                "documents": plan.documents, "copied": created?.copied ?? 0,
                "copied_before": created?.copiedBefore ?? plan.copiedBefore ?? 0, "stopped": created?.stopped,
                "refused_count": refusals.count,
                "refused": refusals.samples.map { refusal in
                    ["_id": ids.json(refusal.id), "reason": "\(refusal.reason)"] as ReportValue
                },
                "clashes": plan.clashes, "unsyncable": plan.failing, "indexes": plan.indexes,
                "notes": plan.notes + (created?.notes ?? []),
                "duration_ms": Int((created?.seconds ?? 0) * 1_000),
            ])
    }

    package var report: Report {
        var report = created.map(result) ?? planned
        report.figures.facts = [Report.Fact("documents", plan.documents), Report.Fact("copied", created?.copied ?? 0)]
        (report.next, report.style.listsFindings) = (next, true)
        return report
    }

    private func start(headline: String, level: Report.Level) -> Report {
        Report(
            command: "partner init", title: "Partner \(plan.name): \(plan.source) → \(plan.target)",
            headline: headline, level: level)
    }

    private var planned: Report {
        var report = start(
            headline: "partner \(plan.name): \(plan.source) → \(plan.target)",
            level: plan.isRefused ? .error : .notice)
        if let copied = plan.copiedBefore {
            report.lines = [
                plan.isDone
                    ? "copied already: \(copied.documents)"
                    : "continues after \(copied.documents) that earlier runs copied"
            ]
            return report
        }
        report.lines = ["about \(plan.documents.documents) to copy"]
        if !plan.indexes.isEmpty { report.lines.append("indexes: \(plan.indexes.joined(separator: ", "))") }
        if let headroom = plan.headroom {
            report.lines.append("\(plan.failing.grouped) of them would not sync (\(headroom))")
        } else if plan.failing > 0 {
            report.lines.append("\(plan.failing.grouped) of them would not fit the partner's schema")
        }
        report.notes = plan.notes
        report.sections = section(plan.refusals, "cannot be carried over without loss")
        if !plan.clashes.isEmpty {
            report.sections.append(
                Report.Section(
                    name: "Unique indexes", columns: ["clash"],
                    findings: plan.clashes.map {
                        Report.Finding(
                            level: .error, isFailure: true, code: "clash", message: $0, cells: [Report.Cell($0)])
                    }))
        }
        return report
    }

    private func result(of created: PartnerReport) -> Report {
        let earlier = created.copiedBefore > 0 ? ", after \(created.copiedBefore.grouped) of earlier runs" : ""
        var report = start(
            headline: "\(created.copied.documents) copied to \(created.target)\(earlier), "
                + "\(created.seconds.inTenths) s",
            level: created.refusals.count > 0 ? .error : created.stopped == nil ? .good : .warning)
        report.lines = created.stopped.map { ["stopped by \($0): run it again to continue"] } ?? []
        report.sections = section(created.refusals, "could not be carried over")
        report.notes = created.notes
        return report
    }

    private func section(_ list: RefusalList, _ what: String) -> [Report.Section] {
        guard list.count > 0 else { return [] }
        let reasons = list.reasons.sorted { ($0.value, "\($1.key)") > ($1.value, "\($0.key)") }
        return [
            Report.Section(
                name: "\(list.count.documents) \(what)", columns: [.number("documents"), "reason", "such as _id"],
                findings: reasons.map { reason, count in
                    let samples = list.samples.filter { $0.reason == reason }.prefix(5).compactMap { ids.text($0.id) }
                    let such = samples.joined(separator: ", ")
                    return Report.Finding(
                        level: .error, isFailure: true, code: "refused",
                        message: "\(count.grouped): \(reason)" + (such.isEmpty ? "" : ", such as _id \(such)"),
                        cells: [.count(count), "\(reason)", .code(such)])
                })
        ]
    }
}
