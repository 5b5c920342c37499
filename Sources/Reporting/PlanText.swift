import BSON
import Enforcing
import JobState
import Jobs
package import Planning
import SchemaChange

/// A plan as text: the job files, their steps, and the changes that no job can serve.
package struct PlanText: Sendable {
    private let plan: SchemaPlan
    private let files: [PlanFile]
    private let partners: [PlanPartner]
    private let layout: TextLayout
    private let command: Command
    private let paint: Paint

    /// Makes a command to propose, from its name and the file that is its argument.
    package typealias Command = @Sendable (_ name: String, _ file: String) -> String

    /// - Parameters:
    ///   - layout: whether to use colours and to show notes.
    ///   - command: makes the commands that the text proposes.
    package init(
        _ plan: SchemaPlan, files: [PlanFile], partners: [PlanPartner] = [], layout: TextLayout = TextLayout(),
        command: @escaping Command = { "shipshape \($0) \($1.shellWord)" }
    ) {
        (self.plan, self.files, self.partners) = (plan, files, partners)
        (self.layout, self.command) = (layout, command)
        paint = Paint(isOn: layout.isColored)
    }

    /// The text, which ends with a line break.
    package var text: String {
        var blocks = [headline]
        if !plan.hints.isEmpty {
            blocks.append((["To decide:"] + plan.hints.map { "  \($0.printable)" }).asLines)
        }
        blocks += files.map(block)
        blocks += partners.map(block)
        blocks += plan.collections.filter { !$0.remarks.isEmpty }.map { collection in
            let head = paint.bold("\(collection.namespace)".printable)
            return ([head] + collection.remarks.flatMap(lines)).asLines
        }
        if !plan.remarks.isEmpty { blocks.append(plan.remarks.flatMap(lines).asLines) }
        let notes = layout.notes(plan.notes)
        if !notes.isEmpty { blocks.append(notes.map { "Note: \($0.printable)" }.asLines) }
        blocks += validators
        if let next, !layout.hidesNotes { blocks.append([next.printable].asLines) }
        return blocks.asReport(verdict: headline)
    }

    private var headline: String { Self.headline(plan, files, partners, paint) }

    /// Returns how many jobs there are, and what the operator still has to decide, review or solve.
    static func headline(
        _ plan: SchemaPlan, _ files: [PlanFile], _ partners: [PlanPartner], _ paint: Paint
    ) -> String {
        guard !plan.collections.isEmpty || !plan.remarks.isEmpty else { return paint.green("Nothing changed.") }
        let ready = files.filter { !$0.job.isDraft }
        let suggestions = plan.entries.filter { $0.role == .manual }.flatMap(\.suggestions)
        let jobs =
            if !ready.isEmpty { ready.count.counted("job") } else if suggestions.isEmpty {
                plan.unplanned == 0 ? "No job is needed" : "No job can be written"
            } else {
                "No job is written until you decide"
            }
        let late = ready.count { $0.job.stage == .afterDeploy }
        let open = [
            plan.hints.isEmpty ? nil : paint.yellow("\(plan.hints.count.counted("question")) to decide"),
            partners.isEmpty ? nil : paint.yellow("\(partners.count.counted("partner job")) to decide on"),
            suggestions.isEmpty ? nil : paint.yellow("\(suggestions.count.counted("suggested step")) to decide on"),
            plan.reviews == 0 ? nil : paint.yellow("\(plan.reviews.counted("step")) to review"),
            plan.unplanned == 0 ? nil : paint.red("\(plan.unplanned.counted("change")) that no job can serve"),
            plan.stuck == 0 ? nil : paint.red("\(plan.stuck.documents) that a step cannot change"),
        ].compactMap(\.self)
        let first = paint.bold(jobs) + (late == 0 ? "" : ", \(late) of them only after the deploy")
        return ([first] + open).joined(separator: "; ") + "."
    }

    private func block(_ file: PlanFile) -> String {
        let name = paint.bold((file.path ?? file.job.name).printable)
        let stage = file.job.isDraft ? "a draft, commented out; \(file.job.stage.words)" : file.job.stage.words
        let title = "\(name) (\("\(file.job.namespace)".printable), \(stage))"
        return ([title] + file.job.entries.flatMap(lines)).asLines
    }

    private func block(_ partner: PlanPartner) -> String {
        let draft = partner.draft
        let name = paint.bold((partner.path ?? "partner job \(draft.name)").printable)
        return
            ([
                "\(name) (\("\(draft.source) → \(draft.target)".printable), a partner job)",
                "  serves the changes that are not planned, while old clients keep working: "
                    + command("partner init", partner.path ?? "FILE"),
            ] + draft.open.map { "  \(paint.yellow("to decide")): \($0.printable)" }).asLines
    }

    private func lines(_ entry: PlanEntry) -> [String] {
        var lines = entry.changes.map { "  \($0.code): \($0.description.printable)" }
        if entry.role == .manual {
            lines += entry.remarks.map { "    \(paint.red("not planned")): \($0.printable)" }
            lines += (entry.parents?.sentences(ids: .hidden) ?? []).map { "      \($0.printable)" }
            lines += entry.suggestions.map { "      suggested: \($0.text.printable)" }
        }
        if let partner = entry.partner {
            return lines
                + [
                    "    its partner \(partner.target) serves the change (job \(partner.name)): no document has to "
                        + "change as long as \(partner.source) keeps its schema"
                ].map(\.printable)
        }
        guard let step = entry.step else {
            return entry.role == .manual
                ? lines
                : lines + (entry.changes.isEmpty || entry.hint != nil ? [] : ["    the documents need no step"])
        }
        guard entry.isActive else { return lines }
        let review = entry.review == nil ? "" : paint.yellow("  review")
        let count = entry.finding.map { "  (\($0.needing.documents))" } ?? ""
        lines.append("    \(step.text.printable)\(count)\(review)")
        lines += (entry.finding?.skipped ?? []).filter(\.isTrouble).map {
            "      skipped: \($0.count.documents), \($0.reason.printable)"
                + ($0.reason == ConversionLoss.rounded.rawValue ? " (\"onLoss: allow\" writes the nearest value)" : "")
        }
        return lines
    }

    private var validators: [String] {
        let commands = plan.collections.compactMap { collection in
            collection.validator.map { PlanWords.commands($0, of: collection.namespace) }
        }
        guard !commands.isEmpty else { return [] }
        let head =
            "Set the validators with shipshape enforce, or in mongosh: for each collection the first command before "
            + "its job, the second once every document fits:"
        return [([head] + commands.flatMap { $0.map { "  \($0)" } }).asLines]
    }

    /// The command that follows the plan: the dry run of the jobs that run before the deploy.
    private var next: String? {
        let early = files.filter { $0.path != nil && !$0.job.isDraft && $0.job.stage == .beforeDeploy }
        guard plan.hints.isEmpty, let first = early.first?.path else { return nil }
        return early.count == 1
            ? "Next: \(command("backfill --dry-run", first))"
            : "Next, for each job: \(command("backfill --dry-run", "FILE"))"
    }
}

/// Texts that a plan has in every output format.
enum PlanWords {
    static let validatorHead =
        "Set the validator with shipshape enforce, or in mongosh: the first command before the job, the second after."

    /// Returns the order of work for a breaking change without a partner collection.
    /// - Parameter jobs: the work to do while sync is terminated.
    static func termination(doing jobs: String) -> String {
        "stop old clients or let them upload, terminate sync, wait about ten minutes, remove the old schema, \(jobs), "
            + "save the new schema, enable sync again, check, and let the clients reset."
    }

    /// Returns the mongosh commands that set a validator: the first with the action `warn`, the second with `error`.
    static func commands(_ validator: BSONDocument, of namespace: Namespace) -> [String] {
        let path = EnforcementPath(namespace, to: ["$jsonSchema": .object(validator)], from: Validation())
        return [EnforcementStage.warn, .error].compactMap { path.command(to: $0) }.map {
            EnforceWords.command($0, of: namespace)
        }
    }
}

extension Stage {
    /// The time when a job of this stage may run, in words.
    var words: String {
        switch self {
        case .beforeDeploy: "before the deploy, and again after it"
        case .afterDeploy: "only after the deploy"
        case .whileWarning: "while the new validator warns"
        }
    }
}
