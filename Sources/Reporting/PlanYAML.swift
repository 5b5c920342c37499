import BSON
import Checking
import Jobs
package import Planning
import SchemaChange
import ServerSchema

/// The text of a planned job's file.
///
/// A comment before each step names the schema change or the finding that is the reason for the step, so that people
/// can review the file.
package struct PlanYAML: Sendable {
    private let file: PlanFile
    private let plan: CollectionPlan
    private let ids: IDDisplay
    private let showsValues: Bool

    /// Creates the text of a planned job's file.
    /// - Parameters:
    ///   - plan: the plan for the collection of the job.
    ///   - showsValues: whether the examples of skipped documents show the value that the step cannot change.
    package init(_ file: PlanFile, of plan: CollectionPlan, ids: IDDisplay = .shown, showsValues: Bool = false) {
        (self.file, self.plan, self.ids, self.showsValues) = (file, plan, ids, showsValues)
    }

    private var isOfPrisma: Bool { plan.dialect == .prisma }

    /// Returns the text of the job file that `draft` proposes for a partner collection.
    package static func text(
        of draft: PartnerDraft, old: String, new: String, oldPath: String?, newPath: String?
    ) -> String {
        draft.text(
            old == new ? "\(markOfRepairs) \(new)." : "\(mark) \(old) with \(new).", schemas: (oldPath, newPath))
    }

    /// The words that every file of a plan from two schemas contains; `plan` recognizes files of earlier plans by them.
    package static var mark: String { "Planned by comparing" }

    /// The words that every file of a repair plan contains; `plan SCHEMA` recognizes files of earlier plans by them.
    package static var markOfRepairs: String { "Planned by checking" }

    package var text: String {
        var lines = head.map { Self.comment(line: $0) }
        if file.job.isDraft { return draft(lines) }
        lines += binding + ["steps:"]
        for entry in file.job.entries { lines += block(entry) }
        if let validator = plan.validator, [.whileWarning, .anyTime].contains(file.job.stage) {
            lines += [""] + Self.comment(PlanWords.validatorHead)
            lines += PlanWords.commands(validator, of: file.job.namespace).map { Self.comment(line: $0) }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the text of a draft: a job file in which every line is a comment, until the user removes the marks.
    private func draft(_ head: [String]) -> String {
        let note = Self.comment(
            "\(JobFile.draft) decide on the steps, remove one # from each line below that begins with one, and try "
                + "the job with --dry-run. A remark begins with two, so it stays a comment.")
        let lines = head + [""] + note + (binding + ["steps:"]).map { Self.comment(line: $0) }
        return (lines + file.job.entries.flatMap(block)).joined(separator: "\n") + "\n"
    }

    /// The lines before the steps: the job, its collection, and the settings that apply to the job.
    private var binding: [String] {
        var lines = ["job: \(file.job.name)", "collection: \(Self.scalar("\(file.job.namespace)"))"]
        if !schemas.isEmpty { lines.append("schema: {\(schemas.joined(separator: ", "))}") }
        if !file.job.renames.isEmpty {
            lines.append("renames: [\(file.job.renames.map(\.quotedAsYAML).joined(separator: ", "))]")
        }
        if file.job.stage == .afterDeploy { lines.append("requires: \(JobFile.deployed)") }
        if reviews > 0 { lines.append("reviewed: false") }
        return lines
    }

    private var schemas: [String] {
        [("active", file.schemas.active), ("next", file.schemas.next)].compactMap { key, path in
            path.map { "\(key): \(Self.scalar($0))" }
        }
    }

    private var head: [String] {
        let job = file.job
        let documents = "documents of \(job.namespace)"
        var lines = [
            job.stage == .anyTime
                ? "Repairs \(documents) \(file.goal). \(Self.markOfRepairs) them with it."
                : "Makes the \(documents) fit \(file.new). \(Self.mark) \(file.old) with it."
        ]
        if let part = job.part {
            lines += [
                "",
                "Part \(part.number) of \(part.count), because a job holds a limited number of steps.",
                "Where it says \"this job\", run all parts, in their order.",
            ]
        }
        for note in isOfPrisma ? PlanPhases.notes(on: job.entries.orders(in: .prisma), of: file.new) : [] {
            lines += [""] + "\(note).".wrapped(to: 112)
        }
        switch job.stage {
        case .beforeDeploy:
            let promise =
                plan.isForClient
                ? "the validator stays, and the server refuses values that do not fit it."
                : isOfPrisma
                    ? "clients of \(file.old) read every document that they read now."
                    : "every document that syncs under \(file.old) keeps syncing."
            lines += ["", "1. Run this job before the deploy: \(promise)"]
            lines += deploy
        case .afterDeploy where plan.validator != nil || plan.isForClient:
            lines += [
                "", "ONLY ONCE NO CLIENT READS THE OLD FIELDS, and after the other job: this job removes them.",
            ]
        case .afterDeploy where isOfPrisma:
            lines += [
                "",
                "ONLY AFTER THE DEPLOY of \(file.new), or while no client runs: clients of \(file.old) would",
                "fail to read the values that these steps write. `shipshape backfill` refuses this job until the",
                "deploy is recorded for the other job (`shipshape job deployed --yes FILE`), or stated by --deployed.",
                "Then check what is left: \(check)",
            ]
            if let old = job.movedFrom {
                lines.append("First rename the collection \("\(old)".printable) to \("\(job.namespace)".printable).")
            }
        case .afterDeploy where job.movedFrom != nil:
            lines += [
                "",
                "ONLY ONCE THE DOCUMENTS ARE COPIED from \("\(job.movedFrom ?? job.namespace)".printable), while sync "
                    + "is terminated.",
                "In this order:",
            ]
            lines += PlanWords.termination(doing: "copy the documents (see below), run this job").wrapped(to: 112)
        case .afterDeploy:
            lines += [
                "",
                "ONLY AFTER THE DEPLOY of \(file.new), or while sync is terminated: the values that these steps write",
                "do not fit \(file.old), so each document would stop syncing. `shipshape backfill` refuses this job",
                "until the deploy is recorded for the other job (`shipshape job deployed --yes FILE`), or stated by",
                "--deployed.",
                "The order of work is in the other job, if there is one; for a breaking change it is:",
            ]
            lines += PlanWords.termination(doing: "run this job").wrapped(to: 112)
        case .anyTime:
            lines += ["", "1. Run this job at any time: the schema does not change."]
            if plan.validator != nil {
                lines += [
                    "   A validator whose action is \"error\" can refuse a document that is repaired only in part: set",
                    "   the action \"warn\" before, and \"error\" after, with the commands at the end of this file.",
                ]
            }
            lines.append("2. \(checkOfCollection)")
        case .whileWarning:
            lines += [
                "",
                "1. Set the new validator with validationAction \"warn\": the first command at the end of this file.",
                "2. Run this job.",
                "3. \(checkOfCollection)",
                "4. Set validationAction \"error\": the second command.",
            ]
            if let follower = file.follower { lines.append("5. Run \(follower), once no client reads the old fields.") }
        }
        if reviews > 0 {
            lines += [
                "",
                "\(reviews.counted("step")) marked \"review\": check the value, or give one with --default. Then write",
                "`reviewed: true` below; the job does not run before.",
            ]
        }
        if let documents = job.documents {
            let (needing, all) = (documents.needing.grouped, documents.all.documents)
            lines += ["", "\(needing) of \(all) needed it when this was planned."]
        }
        return lines
    }

    /// The operator's instructions, from number 2 on, for a job that runs before the deploy; `head` has number 1.
    private var deploy: [String] {
        let lastStep = "Check what is left: \(check)"
        if plan.isBreaking {
            // The job has to run again after sync was terminated, because old clients can write documents until sync is
            // terminated.
            let jobs = ["run this job again"] + (file.follower.map { [$0] } ?? [])
            let order = PlanWords.termination(doing: jobs.joined(separator: " and "))
            return "2. Deploy \(file.new), a breaking change: \(order)".wrapped(to: 112) + ["3. \(lastStep)"]
        }
        let steps =
            [
                "Deploy \(file.new), and record it: shipshape job deployed --yes "
                    + (file.path ?? file.job.name).shellWord,
                "Run this job again: old clients may have written documents that need it.",
            ] + (file.follower.map { ["Run \($0)."] } ?? []) + [lastStep]
        return steps.enumerated().map { "\($0.offset + 2). \($0.element)" }
    }

    /// The command that checks the documents after the newer schema is deployed and is the only active one.
    private var check: String {
        (isOfPrisma ? "SHIPSHAPE_DATABASE=\(file.job.namespace.database.shellWord) " : "")
            + "shipshape check \(file.words)"
    }

    private var checkOfCollection: String {
        "Check what is left: shipshape check \(file.words) --collection " + "\(file.job.namespace)".shellWord
    }

    private func block(_ entry: PlanEntry) -> [String] {
        func remark(_ text: String) -> [String] { Self.comment(text, indent: "  ", mark: remarkMark) }
        func remark(line: String) -> String { Self.comment(line: line, indent: "  ", mark: remarkMark) }
        var lines = entry.changes.isEmpty && entry.violations.isEmpty ? [] : [""]
        lines += entry.changes.flatMap { remark("\($0.code): \($0.description)") }
        lines += entry.violations.flatMap { remark(PlanWords.sentence(on: $0)) }
        lines += entry.remarks.flatMap(remark)
        if entry.role == .manual {
            let commands = entry.violations.map { ViolationGroupWords.command(for: $0, in: file.job.namespace) }
            lines += commands.map { remark(line: $0) }
        }
        lines += (entry.parents?.sentences(ids: ids) ?? []).flatMap(remark)
        lines += entry.suggestions.map { Self.comment(line: "- \($0.text)", indent: "  ") }
        guard let step = entry.step else { return lines }
        if entry.isActive { lines += finding(entry).flatMap(remark) }
        guard entry.isActive else {
            return lines + remark("no document needs it (0 of \(ofDocuments)):") + [remark(line: "- \(step.text)")]
        }
        let keys = step.lines + (entry.review.map { ["review: \($0.quotedAsYAML)"] } ?? [])
        return lines + keys.enumerated().map { ($0.offset == 0 ? "  - " : "    ") + $0.element }
    }

    private var reviews: Int { file.job.entries.count { $0.isActive && $0.review != nil } }

    /// The mark at the beginning of a remark: two `#` in a draft, because the user removes one and the remark stays.
    private var remarkMark: String { file.job.isDraft ? "##" : "#" }

    private var ofDocuments: String { (file.job.documents?.all ?? 0).documents }

    private func finding(_ entry: PlanEntry) -> [String] {
        guard let finding = entry.finding else { return [] }
        let needing =
            finding.needing == 0
            ? "no document needs it now; the step is for documents that are written before the deploy"
            : "\(finding.needing.documents) \(finding.needing == 1 ? "needs" : "need") it"
        return [needing]
            + finding.skipped.map { left in
                let samples = left.isTrouble ? left.samples.compactMap(sample) : []
                let such = samples.isEmpty ? "" : ", such as _id \(samples.joined(separator: ", "))"
                return "skipped: \(left.count.documents), \(left.reason)\(left.remedy)\(such)"
            }
    }

    private func sample(_ sample: StepFinding.Sample) -> String? {
        guard let id = ids.text(sample.id) else { return nil }
        guard showsValues, let value = sample.value else { return id }
        return "\(id) with \(value.shellText.prefix(IDDisplay.maximumLength))"
    }

    // MARK: Lines

    private static func scalar(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { $0.isLetterOrDigit || "/._-".utf8.contains($0) }
        return isPlain && Double(text) == nil && text.first != "-" ? text : text.quotedAsYAML
    }

    private static func comment(_ text: String, indent: String = "", mark: String = "#") -> [String] {
        text.wrapped(to: 112).map { comment(line: $0, indent: indent, mark: mark) }
    }

    /// Returns one line of a YAML comment; control characters are escaped, so that no name in the text can end the
    /// line.
    private static func comment(line: String, indent: String = "", mark: String = "#") -> String {
        indent + (line.isEmpty ? mark : "\(mark) \(line.printable)")
    }
}
