import BSON
import Checking
import Concurrency
import Inferring
import ServerSchema

extension InferResult {
    /// The result as JSON, with its keys in a fixed order.
    package var json: JSONReport {
        JSONReport(
            "schema infer",
            [
                "dialect": found.options.dialect.rawValue, "source": found.source,
                "cover": ReportValue.share(found.options.cover), "strict": found.options.isStrict,
                "duration_ms": Int(found.duration.milliseconds), "collections": found.collections.map(collection),
                "notes": found.notes, "within_cover": found.isWithinCover,
            ])
    }

    private func collection(_ collection: InferReport.Collection) -> ReportValue {
        let (inference, outcome) = (collection.inference, collection.outcome)
        return [
            "database": inference.namespace.database, "collection": inference.namespace.collection,
            "documents_read": outcome.checked, "sample": collection.sampleSize,
            "filter": collection.filter, "failing": outcome.failing, "possible": outcome.possible,
            "within_cover": outcome.isWithinCover,
            "others": [
                "failing_share_at_most": ReportValue.share(outcome.unseenBound),
                "confidence": ReportValue.share(Outcome.confidence),
                "held_out": outcome.heldOut.documents, "held_out_failing": outcome.heldOut.failing,
            ] as ReportValue,
            "not_fitting": outcome.groups.filter { $0.violation.level >= .possible }.map(group),
            "paths_folded": inference.isCrowded, "paths": inference.paths.map(path),
            "schema": inference.prisma?.text.reportValue ?? SchemaFileText(inference.schema).json,
        ]
    }

    private func group(_ group: ViolationGroup) -> ReportValue {
        let violation = group.violation
        return [
            "path": "\(violation.path)", "rule": "\(violation.rule)", "level": "\(violation.level)",
            "expected": violation.expected, "found": violation.found, "documents": group.count,
        ]
    }

    private func path(_ row: PathSummary) -> ReportValue {
        let members: ReportValue = [
            "path": "\(row.path)", "values": row.values, "present": row.presence?.count,
            "objects": row.presence?.of, "nulls": row.nulls,
            "types": ReportValue.object(row.types.map { ($0.type.rawValue, .integer($0.count)) }),
            "longest_array": row.longestArray, "declared": row.declared.map(\.rawValue), "required": row.isRequired,
            "dictionary": row.isDictionary, "suspicions": row.suspicions.map(\.rawValue),
        ]
        return found.options.hasEnums ? members + ["enum": row.candidates] : members
    }
}

extension ReportValue {
    fileprivate static func share(_ part: Double) -> ReportValue { .extended(.double(part)) }
}
