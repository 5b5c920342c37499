import BSON
import Checking
package import Planning
import SchemaChange
import ServerSchema

/// The jobs that `plan` made from two schemas or for repairs, in every output format.
package struct PlanResult: Reportable {
    let plan: SchemaPlan
    let files: [PlanFile]
    let partners: [PlanPartner]
    let texts: [String]
    let isWritten: Bool
    let ids: IDDisplay
    private let collections: [String]
    private let command: Command

    /// A function that returns a command line to propose.
    ///
    /// It takes the command's name, its arguments, and its flags with their values.
    package typealias Command =
        @Sendable (
            _ name: String, _ arguments: [String], _ flags: [(name: String, value: String)]
        ) -> String

    /// Returns a command line without flags that select a deployment.
    package static let plainCommand: Command = { name, arguments, flags in
        let words = ["shipshape", name] + arguments.map(\.shellWord) + flags.map { "\($0.name) \($0.value.shellWord)" }
        return words.joined(separator: " ")
    }

    /// Creates the result from a plan and its files.
    /// - Parameters:
    ///   - texts: the texts of the job files.
    ///   - isWritten: whether the texts were written to files; otherwise they are part of the result.
    ///   - collections: the collections that the operator named; empty for all.
    ///   - command: makes the commands that the text proposes.
    package init(
        _ plan: SchemaPlan, files: [PlanFile], partners: [PlanPartner] = [], texts: [String], isWritten: Bool,
        ids: IDDisplay = .shown, of collections: [String] = [], command: @escaping Command = PlanResult.plainCommand
    ) {
        self.collections = collections
        (self.plan, self.files, self.partners, self.texts) = (plan, files, partners, texts)
        (self.isWritten, self.ids, self.command) = (isWritten, ids, command)
    }

    package func text(_ layout: TextLayout) -> String {
        // If no files were written, the result is the text of the job files, as one stream of YAML documents.
        if !isWritten, !(files.isEmpty && partners.isEmpty) {
            return (texts + partners.map(\.text)).joined(separator: "---\n")
        }
        return TextReport(report, layout).text
    }

    /// The report from which every output format except JSON and JSON lines is rendered.
    ///
    /// If no files were written, the text format shows the jobs' texts instead.
    package var report: Report {
        let isOpen = plan.unplanned + plan.stuck > 0
        let isUndecided = plan.reviews + plan.hints.count > 0
        var report = Report(
            command: "plan", title: title, headline: headline,
            level: isOpen ? .error : isUndecided ? .warning : .good)
        report.figures.facts = [
            Report.Fact("jobs", files.count),
            plan.repairs.map { Report.Fact("documents that they repair", $0.repaired) },
            Report.Fact("steps to review", plan.reviews),
            Report.Fact(
                plan.failing == nil ? "changes that no job can serve" : "findings that no job can repair",
                plan.unplanned),
            Report.Fact("documents that a step cannot change", plan.stuck),
        ].compactMap(\.self)
        report.style.sectionKind = "job"
        (report.style.listsFindings, report.style.isCompact) = (true, true)
        report.sections =
            (plan.hints.isEmpty ? [] : [hints]) + files.indices.map(section)
            + plan.collections.filter { !$0.remarks.isEmpty }.map {
                section("\($0.namespace)", $0.remarks, of: $0.namespace)
            }
            + (plan.remarks.isEmpty ? [] : [section("the app", plan.remarks)])
        report.tables = [PlanPhases(plan: plan, files: files).table]
        let orders = plan.entries.orders(in: plan.dialect)
        report.notes = PlanPhases.notes(on: orders, of: files.first?.new ?? "the newer schema") + plan.notes
        report.next = next
        report.sections += partners.map(section)
        report.sections += plan.collections.compactMap { collection in
            collection.validator.map { section($0, of: collection.namespace) }
        }
        return report
    }

    private func section(_ validator: BSONDocument, of namespace: Namespace) -> Report.Section {
        let finding = Report.Finding(
            level: .notice, code: "validator", subject: "\(namespace)", message: PlanWords.validatorHead,
            cells: [Report.Cell(PlanWords.validatorHead)], commands: PlanWords.commands(validator, of: namespace))
        return Report.Section(name: "\(namespace): the validator", columns: ["in mongosh"], findings: [finding])
    }

    private var title: String {
        guard plan.failing == nil else { return files.first.map { "Repairs for \($0.new)" } ?? "Repairs" }
        return files.first.map { "Jobs from \($0.old) to \($0.new)" } ?? "Jobs between two schemas"
    }

    /// A sentence on how many jobs there are, and what the operator still has to decide, review or solve.
    private var headline: String {
        guard !plan.collections.isEmpty || !plan.remarks.isEmpty else {
            return plan.failing == nil ? "Nothing changed." : "Nothing to fix."
        }
        let ready = files.filter { !$0.job.isDraft }
        let suggestions = plan.entries.filter { $0.role == .manual }.flatMap(\.suggestions)
        let jobs =
            if !ready.isEmpty { ready.count.counted("job") } else if suggestions.isEmpty {
                plan.unplanned == 0 ? "No job is needed" : "No job can be written"
            } else {
                "No job is written until you decide"
            }
        if let failing = plan.failing { return headlineOfRepairs(of: failing, jobs, ready.count) }
        let late = ready.count { $0.job.stage == .afterDeploy }
        let open = [
            plan.hints.isEmpty ? nil : "\(plan.hints.count.counted("question")) to decide",
            partners.isEmpty ? nil : "\(partners.count.counted("partner job")) to decide on",
            suggestions.isEmpty ? nil : "\(suggestions.count.counted("suggested step")) to decide on",
            plan.reviews == 0 ? nil : "\(plan.reviews.counted("step")) to review",
            plan.unplanned == 0 ? nil : "\(plan.unplanned.counted("change")) that no job can serve",
            plan.stuck == 0 ? nil : "\(plan.stuck.documents) that a step cannot change",
        ].compactMap(\.self)
        let first = jobs + (late == 0 ? "" : ", \(late) of them only after the deploy")
        return ([first] + open).joined(separator: "; ") + "."
    }

    /// A sentence on the documents that the jobs repair, and on what they leave; each document counts once.
    private func headlineOfRepairs(of failing: Int, _ jobs: String, _ count: Int) -> String {
        let suggested = plan.entries.count { $0.role == .manual && !$0.suggestions.isEmpty }
        let findings =
            plan.unplanned == 0
            ? nil
            : "\(plan.unplanned.counted("finding")) to decide on"
                + (suggested == 0 ? "" : " (\(suggested.grouped) with a suggested step)")
        func unchanged(_ count: Int) -> String? { count == 0 ? nil : "\(count.documents) that no step can change" }
        let repairs = plan.repairs
        let first =
            if let repairs, count > 0 {
                "\(jobs) \(count == 1 ? "repairs" : "repair") \(repairs.repaired.grouped) of \(failing.documents)"
            } else { "\(jobs): \(failing.documents) \(failing == 1 ? "fails" : "fail") now" }
        var left = [findings, unchanged(plan.stuck)]
        if let repairs {
            let reasons = repairs.skipped.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            let others = findings.map { " with \($0)" } ?? " that fail after \(count == 1 ? "the job" : "the jobs")"
            left = [
                repairs.left == 0 ? findings : repairs.left.documents + others,
                unchanged(reasons.reduce(0) { $0 + $1.value }).map { text in
                    "\(text) (\(reasons.map { "\($0.key): \($0.value.grouped)" }.joined(separator: "; ")))"
                },
            ]
        }
        left += [
            plan.reviews == 0 ? nil : "\(plan.reviews.counted("step")) to review",
            plan.hints.isEmpty ? nil : plan.hints.count.counted("question"),
            partners.isEmpty ? nil : "\(partners.count.counted("partner job")) to decide on",
        ]
        let open = left.compactMap(\.self).joined(separator: ", ")
        return open.isEmpty ? "\(first)." : "\(first). Left for you: \(open)."
    }

    /// The lines that propose the next commands, such as a dry run of the jobs that run before the deploy.
    ///
    /// There are none if no job can be tried yet, or if the operator first has to decide on a guess of the plan, for
    /// example on a possible rename.
    private var next: [String] {
        if plan.failing != nil { return nextOfRepairs }
        let early = files.filter { $0.path != nil && !$0.job.isDraft && $0.job.stage == .beforeDeploy }
        guard plan.hints.isEmpty else { return [] }
        guard let first = early.first?.path else {
            return startable.first.map { ["Next: \(command("partner init --dry-run", [$0.path ?? ""], []))"] } ?? []
        }
        return early.count == 1
            ? ["Next: \(command("backfill --dry-run", [first], []))"]
            : ["Next, for each job: \(command("backfill --dry-run", ["FILE"], []))"]
    }

    /// The partner jobs that leave no question to the operator.
    private var startable: [PlanPartner] { partners.filter { $0.path != nil && $0.draft.open.isEmpty } }

    /// The commands that follow a plan of repairs: the dry run, the run and the check of the jobs; without jobs, those
    /// of the partner jobs.
    private var nextOfRepairs: [String] {
        let ready = files.filter { $0.path != nil && !$0.job.isDraft }
        let name = ready.isEmpty ? "partner init" : "backfill"
        let paths = (ready.isEmpty ? startable.map(\.path) : ready.map(\.path)).compactMap(\.self)
        guard let first = paths.first else { return [] }
        var places = plan.collections.count == 1 ? plan.collections.map { "\($0.namespace)" } : []
        if !collections.isEmpty { places = collections }
        // No schema of a repair describes a partner.
        if ready.isEmpty { places = startable.map { "\($0.draft.target)" } }
        let flags =
            (plan.engine.map { [(name: "--engine", value: $0.rawValue)] } ?? [])
            + places.map { (name: "--collection", value: $0) }
        let job = [paths.count == 1 ? first : "FILE"]
        let commands = [
            command("\(name) --dry-run", job, []), command(name, job, []),
            command("check", ready.first?.checked ?? [], flags),
        ]
        return ["Next\(paths.count == 1 ? "" : ", for each job"):"] + commands.map { "  \($0)" }
    }

    private var hints: Report.Section {
        Report.Section(
            name: "To decide", columns: ["question"],
            findings: plan.hints.map {
                Report.Finding(level: .warning, code: "to decide", message: $0, cells: [Report.Cell($0)])
            })
    }

    private func section(_ index: Int) -> Report.Section {
        let (file, job) = (files[index], files[index].job)
        var section = section(file.path ?? job.name, job.entries, of: job.namespace)
        section.about = "\(job.namespace), \(job.isDraft ? "a draft, commented out; " : "")\(job.stage.words)"
        return section
    }

    private func section(_ partner: PlanPartner) -> Report.Section {
        let draft = partner.draft
        return Report.Section(
            name: partner.path ?? "partner job \(draft.name)",
            about: "\(draft.source) → \(draft.target), a partner job",
            summary: "serves the changes that are not planned, while old clients keep working: "
                + command("partner init", [partner.path ?? "FILE"], []),
            columns: ["to decide"],
            findings: draft.open.map {
                Report.Finding(
                    level: .warning, code: "partner", subject: "\(draft.target)", message: "to decide: \($0)",
                    cells: [Report.Cell($0)])
            })
    }

    private func section(_ name: String, _ entries: [PlanEntry], of namespace: Namespace? = nil) -> Report.Section {
        // Inactive steps without a change or finding of their own are left out, because they are only comments in the
        // job file.
        let entries = entries.filter {
            $0.role != .step || $0.isActive || !($0.changes.isEmpty && $0.violations.isEmpty)
        }
        let hasCounts = entries.contains { $0.finding != nil }
        // `followers[i]` is `true` if entry `i + 1` is another active step for the changes or findings of entry `i`.
        let followers = entries.dropFirst().map { $0.isActive && $0.changes.isEmpty && $0.violations.isEmpty }
        // If a field has several entries, only the first has changes or findings. The other entries get the path of the
        // entry before them.
        let places = entries.reduce(into: [String]()) { $0.append($1.place ?? $0.last ?? "") }
        return Report.Section(
            name: name,
            columns: [plan.failing == nil ? "change" : "finding", "step"]
                + (hasCounts ? [.number("documents")] : []) + ["state"],
            findings: zip(zip(entries, places), followers + [false]).map { entry, isFollowed in
                finding(entry.0, at: entry.1, of: namespace, hasCounts: hasCounts, isFollowed: isFollowed)
            })
    }

    private func finding(
        _ entry: PlanEntry, at place: String, of namespace: Namespace?, hasCounts: Bool, isFollowed: Bool
    ) -> Report.Finding {
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
            } else { (isFollowed ? "served by the next step" : "nothing to do", .notice) }
        let served =
            entry.changes.map { "\($0.code): \($0.description)" } + entry.violations.map(PlanWords.sentence)
        let changes = served.joined(separator: "; ")
        let step = entry.isActive ? entry.step?.text ?? "" : ""
        let left = (entry.finding?.skipped ?? []).filter(\.isTrouble).map {
            "skipped: \($0.count.documents), \($0.reason)\($0.remedy)"
        }
        let failing = entry.violations.first?.count
        let needing = entry.finding.map { $0.needing == failing ? "" : " (\($0.needing.documents))" } ?? ""
        let partner = entry.partner.map {
            "its partner \($0.target) serves the change (job \($0.name)): no document has to change as long as "
                + "\($0.source) keeps its schema"
        }
        return Report.Finding(
            level: level, isFailure: level == .error,
            code: entry.changes.first?.code.rawValue ?? entry.violations.first?.violation.rule.rawValue ?? "step",
            subject: entry.place ?? "",
            message: !changes.isEmpty ? changes : !step.isEmpty ? step + needing : place.isEmpty ? word : place,
            details: state(of: entry, word, isFollowed: isFollowed) + [partner].compactMap(\.self)
                + (entry.parents?.sentences(ids: ids) ?? []) + entry.suggestions.map { "suggested: \($0.text)" } + left,
            asides: changes.isEmpty || step.isEmpty ? [] : [step + needing],
            cells: [Report.Cell(changes), .code(step)]
                + (hasCounts ? [Report.Cell(entry.finding?.needing.grouped ?? "")] : [])
                + [Report.Cell(word, level: level)],
            filters: entry.role == .manual
                ? namespace.map { place in
                    entry.violations.map { ViolationGroupWords.command(for: $0, in: place) }
                } ?? [] : [])
    }

    /// Returns the lines that explain the state of an entry: the state with its reason, and the remarks.
    private func state(of entry: PlanEntry, _ word: String, isFollowed: Bool) -> [String] {
        switch entry.role {
        case _ where entry.partner != nil: return entry.remarks
        case .manual, .nothing:
            return entry.remarks.isEmpty ? [word] : ["\(word): \(entry.remarks[0])"] + entry.remarks.dropFirst()
        // The remarks of an inactive step are left out. They apply to the step's line in the job file, and that line is
        // a comment.
        case .step where !entry.isActive: return isFollowed ? [] : [word]
        case .step: return [entry.review].compactMap { $0.map { "to review: \($0)" } } + entry.remarks
        }
    }
}

extension PlanEntry {
    /// The path of the entry's first change or finding; `nil` if the entry has neither.
    fileprivate var place: String? {
        (changes.first?.path ?? violations.first?.violation.path).map { "\($0)" }
    }
}
