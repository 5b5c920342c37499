import BSON
import Checking
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

    /// Makes a command to propose, from its name, the file that is its argument, and flags with a value.
    package typealias Command =
        @Sendable (
            _ name: String, _ file: String, _ flags: [(name: String, value: String)]
        ) -> String

    /// Makes a command that names no deployment.
    package static let plainCommand: Command = { name, file, flags in
        let words = ["shipshape", name, file.shellWord] + flags.map { "\($0.name) \($0.value.shellWord)" }
        return words.joined(separator: " ")
    }

    /// - Parameters:
    ///   - layout: whether to use colours and to show notes.
    ///   - command: makes the commands that the text proposes.
    package init(
        _ plan: SchemaPlan, files: [PlanFile], partners: [PlanPartner] = [], layout: TextLayout = TextLayout(),
        command: @escaping Command = PlanText.plainCommand
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
            return ([head] + collection.remarks.flatMap { lines($0, collection.namespace) }).asLines
        }
        if !plan.remarks.isEmpty { blocks.append(plan.remarks.flatMap { lines($0, nil) }.asLines) }
        let notes = layout.notes(plan.notes)
        if !notes.isEmpty { blocks.append(notes.map { "Note: \($0.printable)" }.asLines) }
        blocks += validators
        let text = blocks.asReport(verdict: headline)
        return next.isEmpty || layout.hidesNotes ? text : "\(text)\n\(next.map(\.printable).asLines)\n"
    }

    private var headline: String { Self.headline(plan, files, partners, paint) }

    /// Returns how many jobs there are, and what the operator still has to decide, review or solve.
    static func headline(
        _ plan: SchemaPlan, _ files: [PlanFile], _ partners: [PlanPartner], _ paint: Paint
    ) -> String {
        guard !plan.collections.isEmpty || !plan.remarks.isEmpty else {
            return paint.green(plan.failing == nil ? "Nothing changed." : "Nothing to fix.")
        }
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
            plan.unplanned == 0 ? nil : paint.red(PlanWords.unplanned(in: plan)),
            plan.stuck == 0 ? nil : paint.red("\(plan.stuck.documents) that a step cannot change"),
        ].compactMap(\.self)
        let failing = plan.failing.map { ": \($0.documents) \($0 == 1 ? "fails" : "fail") now" } ?? ""
        let first = paint.bold(jobs) + failing + (late == 0 ? "" : ", \(late) of them only after the deploy")
        return ([first] + open).joined(separator: "; ") + "."
    }

    private func block(_ file: PlanFile) -> String {
        let name = paint.bold((file.path ?? file.job.name).printable)
        let stage = file.job.isDraft ? "a draft, commented out; \(file.job.stage.words)" : file.job.stage.words
        let title = "\(name) (\("\(file.job.namespace)".printable), \(stage))"
        return ([title] + file.job.entries.flatMap { lines($0, file.job.namespace) }).asLines
    }

    private func block(_ partner: PlanPartner) -> String {
        let draft = partner.draft
        let name = paint.bold((partner.path ?? "partner job \(draft.name)").printable)
        return
            ([
                "\(name) (\("\(draft.source) → \(draft.target)".printable), a partner job)",
                "  serves the changes that are not planned, while old clients keep working: "
                    + command("partner init", partner.path ?? "FILE", []),
            ] + draft.open.map { "  \(paint.yellow("to decide")): \($0.printable)" }).asLines
    }

    private func lines(_ entry: PlanEntry, _ namespace: Namespace?) -> [String] {
        var lines = entry.changes.map { "  \($0.code): \($0.description.printable)" }
        lines += entry.violations.map { "  \(PlanWords.sentence(on: $0).printable)" }
        if entry.role == .manual {
            lines += entry.remarks.map { "    \(paint.red("not planned")): \($0.printable)" }
            if let namespace {
                lines += entry.violations.map { "      \(ViolationGroupWords.command(for: $0, in: namespace))" }
            }
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

    /// The commands that follow a plan of repairs: the dry run, the run and the check.
    private var nextOfRepairs: [String] {
        let ready = files.filter { $0.path != nil && !$0.job.isDraft }
        guard let first = ready.first, let path = first.path else { return [] }
        let job = ready.count == 1 ? path : "FILE"
        let only = plan.collections.count == 1 ? [(name: "--collection", value: "\(first.job.namespace)")] : []
        let commands = [
            command("backfill --dry-run", job, []), command("backfill", job, []), command("check", first.new, only),
        ]
        return ["Next\(ready.count == 1 ? "" : ", for each job"):"] + commands.map { "  \($0)" }
    }

    /// The command that follows the plan: the dry run of the jobs that run before the deploy.
    private var next: [String] {
        if plan.failing != nil { return nextOfRepairs }
        let early = files.filter { $0.path != nil && !$0.job.isDraft && $0.job.stage == .beforeDeploy }
        guard plan.hints.isEmpty, let first = early.first?.path else { return [] }
        return [
            early.count == 1
                ? "Next: \(command("backfill --dry-run", first, []))"
                : "Next, for each job: \(command("backfill --dry-run", "FILE", []))"
        ]
    }
}

/// Texts that a plan has in every output format.
enum PlanWords {
    /// Returns a finding of a check as one line.
    static func sentence(on group: ViolationGroup) -> String {
        let violation = group.violation
        return "\(violation.rule): \(violation.path), \(group.count.documents), expected \(violation.expected), found "
            + violation.found
    }

    /// Returns how many changes no job can serve or, for a plan of repairs, how many findings no job can repair.
    static func unplanned(in plan: SchemaPlan) -> String {
        plan.failing == nil
            ? "\(plan.unplanned.counted("change")) that no job can serve"
            : "\(plan.unplanned.counted("finding")) that no job can repair"
    }

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
        case .anyTime: "at any time"
        }
    }
}
