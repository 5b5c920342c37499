import BSON
import Checking
package import Planning
import SchemaChange
import ServerSchema

/// A plan as JSON: one object with its keys in a fixed order.
package struct PlanJSON: Sendable {
    /// The version of the format, which changes only if a reader of the old format would misread the new one.
    package static var schemaVersion: Int { 1 }

    private let plan: SchemaPlan
    private let files: [PlanFile]
    private let partners: [PlanPartner]
    private let texts: [String]?
    private let ids: IDDisplay

    /// - Parameter texts: the texts of the job files; `nil` if they were written to files.
    package init(
        _ plan: SchemaPlan, files: [PlanFile], partners: [PlanPartner] = [], texts: [String]? = nil,
        ids: IDDisplay = .shown
    ) {
        (self.plan, self.files, self.partners, self.texts, self.ids) = (plan, files, partners, texts, ids)
    }

    /// The JSON text, indented, which ends with a line break.
    package var text: String { json.text }

    var json: JSONReport {
        JSONReport(
            "plan", version: Self.schemaVersion,
            [
                ("dialect", .string(plan.dialect.rawValue)),
                ("jobs", .array(files.indices.map(job))),
                ("partners", .array(partners.map(partner))),
                ("remarks", .array((plan.remarks + plan.collections.flatMap(\.remarks)).map(entry))),
                ("hints", .array(plan.hints.map { .string($0) })),
                ("notes", .array(plan.notes.map { .string($0) })),
                ("validators", .array(plan.collections.compactMap(validator))),
                (
                    "counts",
                    .object([
                        ("jobs", .integer(files.count)), ("review", .integer(plan.reviews)),
                        ("unplanned", .integer(plan.unplanned)), ("left_alone", .integer(plan.stuck)),
                        ("failing", plan.failing.map { .integer($0) } ?? .null),
                    ])
                ),
            ])
    }

    private func job(_ index: Int) -> ReportValue {
        let file = files[index]
        return .object([
            ("job", .string(file.job.name)),
            ("file", file.path.map { .string($0) } ?? .null),
            ("database", .string(file.job.namespace.database)),
            ("collection", .string(file.job.namespace.collection)),
            ("stage", .string(file.job.stage.rawValue)),
            ("documents", file.job.documents.map { .integer($0.all) } ?? .null),
            ("needing", file.job.documents.map { .integer($0.needing) } ?? .null),
            ("entries", .array(file.job.entries.map(entry))),
            ("text", texts.map { .string($0[index]) } ?? .null),
        ])
    }

    private func partner(_ partner: PlanPartner) -> ReportValue {
        .object([
            ("partner", .string(partner.draft.name)), ("file", partner.path.map { .string($0) } ?? .null),
            ("source", .string("\(partner.draft.source)")), ("target", .string("\(partner.draft.target)")),
            ("open", .array(partner.draft.open.map { .string($0) })),
            ("text", texts == nil ? .null : .string(partner.text)),
        ])
    }

    private func entry(_ entry: PlanEntry) -> ReportValue {
        .object([
            ("role", .string(entry.role.rawValue)),
            ("changes", .array(entry.changes.map(change))),
            ("findings", .array(entry.violations.map { $0.json(ids: ids, in: plan.dialect) })),
            ("step", entry.step.map { .string($0.text) } ?? .null),
            ("active", .bool(entry.isActive)),
            ("review", entry.review.map { .string($0) } ?? .null),
            ("remarks", .array(entry.remarks.map { .string($0) })),
            ("suggestions", .array(entry.suggestions.map { .string($0.text) })),
            ("served_by", entry.partner.map { .string($0.name) } ?? .null),
            ("needing", entry.finding.map { .integer($0.needing) } ?? .null),
            ("left_alone", .array((entry.finding?.skipped ?? []).map(skipped))),
            ("parents", entry.parents?.json(ids: ids) ?? .null),
        ])
    }

    private func change(_ change: SchemaChange) -> ReportValue {
        .object([
            ("code", .string(change.code.rawValue)),
            ("collection", change.namespace.map { .string("\($0)") } ?? .null),
            ("path", .string("\(change.path)")),
            ("description", .string(change.description)),
        ])
    }

    private func skipped(_ left: StepFinding.Skipped) -> ReportValue {
        .object([
            ("reason", .string(left.reason)), ("count", .integer(left.count)),
            ("samples", ids.json(left.samples.map(\.id))),
        ])
    }

    private func validator(_ collection: CollectionPlan) -> ReportValue? {
        collection.validator.map { validator in
            .object([
                ("collection", .string("\(collection.namespace)")),
                ("commands", .array(PlanWords.commands(validator, of: collection.namespace).map { .string($0) })),
            ])
        }
    }
}
