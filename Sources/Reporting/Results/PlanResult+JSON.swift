import BSON
import Checking
import Planning
import SchemaChange
import ServerSchema

extension PlanResult {
    package var json: JSONReport {
        JSONReport(
            "plan",
            [
                "dialect": plan.dialect.rawValue, "jobs": files.indices.map(job), "partners": partners.map(partner),
                "remarks": (plan.remarks + plan.collections.flatMap(\.remarks)).map(entry), "hints": plan.hints,
                "notes": plan.notes, "validators": plan.collections.compactMap(validator),
                "counts": [
                    "jobs": files.count, "review": plan.reviews, "unplanned": plan.unplanned,
                    "left_alone": plan.stuck, "failing": plan.failing, "repaired": plan.repairs?.repaired,
                ] as ReportValue,
            ])
    }

    private func job(_ index: Int) -> ReportValue {
        let file = files[index]
        return [
            "job": file.job.name, "file": file.path, "database": file.job.namespace.database,
            "collection": file.job.namespace.collection, "stage": file.job.stage.rawValue,
            "documents": file.job.documents?.all, "needing": file.job.documents?.needing,
            "entries": file.job.entries.map(entry), "text": isWritten ? nil : texts[index],
        ]
    }

    private func partner(_ partner: PlanPartner) -> ReportValue {
        [
            "partner": partner.draft.name, "file": partner.path, "source": "\(partner.draft.source)",
            "target": "\(partner.draft.target)", "open": partner.draft.open, "text": isWritten ? nil : partner.text,
        ]
    }

    private func entry(_ entry: PlanEntry) -> ReportValue {
        [
            "role": entry.role.rawValue, "changes": entry.changes.map(change),
            "findings": entry.violations.map { $0.json(ids: ids, in: plan.dialect) }, "step": entry.step?.text,
            "active": entry.isActive, "review": entry.review, "remarks": entry.remarks,
            "suggestions": entry.suggestions.map(\.text), "served_by": entry.partner?.name,
            "needing": entry.finding?.needing, "left_alone": (entry.finding?.skipped ?? []).map(skipped),
            "parents": entry.parents?.json(ids: ids),
        ]
    }

    private func change(_ change: SchemaChange) -> ReportValue {
        [
            "code": change.code.rawValue, "collection": change.namespace.map { "\($0)" }, "path": "\(change.path)",
            "description": change.description,
        ]
    }

    private func skipped(_ left: StepFinding.Skipped) -> ReportValue {
        ["reason": left.reason, "count": left.count, "samples": ids.json(left.samples.map(\.id))]
    }

    private func validator(_ collection: CollectionPlan) -> ReportValue? {
        collection.validator.map { validator in
            [
                "collection": "\(collection.namespace)",
                "commands": PlanWords.commands(validator, of: collection.namespace),
            ] as ReportValue
        }
    }
}
