import BSON
import Checking
import Jobs
package import Planning
import SchemaChange

/// The jobs that `plan` made from two schemas, in every output format.
package struct PlanResult: Reportable {
    private let plan: SchemaPlan
    private let files: [PlanFile]
    private let partners: [PlanPartner]
    private let texts: [String]
    private let isWritten: Bool
    private let ids: IDDisplay
    private let command: PlanText.Command

    /// - Parameters:
    ///   - texts: the texts of the job files.
    ///   - isWritten: whether the texts were written to files; otherwise they are part of the result.
    ///   - ids: how `_id`s are shown.
    ///   - command: makes the commands that the text proposes.
    package init(
        _ plan: SchemaPlan, files: [PlanFile], partners: [PlanPartner] = [], texts: [String], isWritten: Bool,
        ids: IDDisplay = .shown, command: @escaping PlanText.Command = PlanText.plainCommand
    ) {
        (self.plan, self.files, self.partners, self.texts) = (plan, files, partners, texts)
        (self.isWritten, self.ids, self.command) = (isWritten, ids, command)
    }

    /// Returns the result as text.
    package func text(_ layout: TextLayout) -> String {
        // If no files were written, the result is the text of the job files, as one stream of YAML documents.
        if !isWritten, !(files.isEmpty && partners.isEmpty) {
            return (texts + partners.map(\.text)).joined(separator: "---\n")
        }
        return PlanText(plan, files: files, partners: partners, layout: layout, command: command).text
    }

    /// The result as JSON.
    package var json: JSONReport {
        PlanJSON(plan, files: files, partners: partners, texts: isWritten ? nil : texts, ids: ids).json
    }

    /// The report from which every output format except text and JSON is rendered.
    package var report: Report {
        let isOpen = plan.unplanned + plan.stuck > 0
        let isUndecided = plan.reviews + plan.hints.count > 0
        var report = Report(
            command: "plan",
            title: title,
            headline: PlanText.headline(plan, files, partners, Paint(isOn: false)),
            level: isOpen ? .error : isUndecided ? .warning : .good)
        report.facts = [
            Report.Fact(name: "jobs", value: files.count.grouped),
            Report.Fact(name: "steps to review", value: plan.reviews.grouped),
            Report.Fact(
                name: plan.failing == nil ? "changes that no job can serve" : "findings that no job can repair",
                value: plan.unplanned.grouped),
            Report.Fact(name: "documents that a step cannot change", value: plan.stuck.grouped),
        ]
        report.sectionKind = "job"
        report.sections =
            files.indices.map(section)
            + plan.collections.filter { !$0.remarks.isEmpty }.map {
                section("\($0.namespace)", $0.remarks, of: $0.namespace)
            }
            + (plan.remarks.isEmpty ? [] : [section("the app", plan.remarks, of: nil)])
        report.notes = plan.hints.map { "To decide: \($0)" } + plan.notes
        report.sections += partners.map(section)
        let commands = plan.collections.compactMap { collection in
            collection.validator.map { (collection.namespace, PlanWords.commands($0, of: collection.namespace)) }
        }
        report.sections += commands.map { namespace, commands in
            Report.Section(
                name: "\(namespace): the validator", columns: [Report.Column(title: "in mongosh")],
                findings: [
                    Report.Finding(
                        level: .notice, isFailure: false, code: "validator", subject: "\(namespace)",
                        message: PlanWords.validatorHead, cells: [Report.Cell(PlanWords.validatorHead)],
                        commands: commands)
                ])
        }
        return report
    }

    private var title: String {
        guard plan.failing == nil else { return files.first.map { "Repairs for \($0.new)" } ?? "Repairs" }
        return files.first.map { "Jobs from \($0.old) to \($0.new)" } ?? "Jobs between two schemas"
    }

    private func section(_ index: Int) -> Report.Section {
        let (file, job) = (files[index], files[index].job)
        var section = section(file.path ?? job.name, job.entries, of: job.namespace)
        section.summary =
            "\(job.namespace), \(job.isDraft ? "a draft, commented out; " : "")\(job.stage.words)"
        return section
    }

    private func section(_ partner: PlanPartner) -> Report.Section {
        let draft = partner.draft
        return Report.Section(
            name: partner.path ?? "partner job \(draft.name)", summary: "\(draft.source) → \(draft.target)",
            columns: [Report.Column(title: "to decide")],
            findings: draft.open.map {
                Report.Finding(
                    level: .warning, isFailure: false, code: "partner", subject: "\(draft.target)", message: $0,
                    cells: [Report.Cell($0)])
            })
    }

    private func section(_ name: String, _ entries: [PlanEntry], of namespace: Namespace?) -> Report.Section {
        Report.Section(
            name: name,
            columns: [
                Report.Column(title: plan.failing == nil ? "change" : "finding"), Report.Column(title: "step"),
            ]
                + (entries.contains { $0.finding != nil } ? [Report.Column(title: "documents", isNumber: true)] : [])
                + [Report.Column(title: "state")],
            findings: entries.map { finding($0, of: namespace, hasCounts: entries.contains { $0.finding != nil }) })
    }

    private func finding(_ entry: PlanEntry, of namespace: Namespace?, hasCounts: Bool) -> Report.Finding {
        let unrepaired = entry.role == .manual ? entry.violations : []
        let stuck = entry.finding?.stuck ?? 0
        let (word, level): (String, Report.Level) =
            if let partner = entry.partner {
                ("served by partner \(partner.name)", .good)
            } else if entry.role == .manual {
                ("not planned", .error)
            } else if stuck > 0 {
                ("\(stuck.grouped) skipped", .error)
            } else if entry.isActive, entry.review != nil { ("to review", .warning) } else if entry.isActive {
                ("planned", .good)
            } else { ("nothing to do", .notice) }
        let served =
            entry.changes.map { "\($0.code): \($0.description)" } + entry.violations.map(PlanWords.sentence)
        let changes = served.joined(separator: "; ")
        let step = entry.isActive ? entry.step?.text ?? "" : ""
        let left = (entry.finding?.skipped ?? []).filter(\.isTrouble).map {
            "skipped: \($0.count.documents), \($0.reason)"
        }
        return Report.Finding(
            level: level, isFailure: level == .error,
            code: entry.changes.first?.code.rawValue ?? entry.violations.first?.violation.rule.rawValue ?? "step",
            subject: (entry.changes.first?.path ?? entry.violations.first?.violation.path).map { "\($0)" } ?? "",
            message: [changes, step, word].filter { !$0.isEmpty }.joined(separator: ": "),
            details: [entry.review].compactMap(\.self) + entry.remarks + (entry.parents?.sentences(ids: ids) ?? [])
                + entry.suggestions.map { "suggested: \($0.text)" } + left,
            cells: [Report.Cell(changes), Report.Cell(step, isCode: true)]
                + (hasCounts ? [Report.Cell(entry.finding?.needing.grouped ?? "")] : [])
                + [Report.Cell(word, level: level)],
            commands: namespace.map { place in
                unrepaired.map { ViolationGroupWords.command(for: $0, in: place) }
            } ?? [])
    }
}
