import BSON
import SchemaChange
import ServerSchema

extension DiffResult {
    /// The result as JSON, with its keys in a fixed order.
    package var json: JSONReport {
        JSONReport(
            "diff",
            [
                "dialect": found.dialect.rawValue, "old": found.old, "new": found.new, "source": found.source,
                "changes": found.listed.map(change),
                "hints": found.hints.map(hint), "notes": found.notes + found.omission, "verdict": verdict,
            ])
    }

    private func change(_ index: Int) -> ReportValue {
        let change = found.changes[index]
        return [
            "code": change.code.rawValue, "verdict": change.kind.verdict.rawValue, "server": change.server.rawValue,
            "client": change.client.rawValue, "database": change.namespace?.database,
            "collection": change.namespace?.collection, "path": "\(change.path)",
            "description": change.description, "old": side(change.old), "new": side(change.new),
            "consequences": change.kind.consequences.map(\.rawValue), "advice": change.kind.advice,
            "source": source(change.kind.source), "partner": change.partner.map(partner),
            "rename_hint": found.hint(for: change)?.rename, "documents": found.weights?[index].map(weight),
            "fails": found.fails(change), "exception": found.acceptance(of: change)?.json,
        ]
    }

    private func side(_ side: SchemaChange.Side?) -> ReportValue {
        guard let side else { return .null }
        let hasPlace = side.location.line > 0
        return [
            "database": side.namespace?.database, "collection": side.namespace?.collection,
            "path": "\(side.path)", "type": side.node?.expectation(asRoot: side.path.isRoot),
            "required": side.isRequired, "file": side.location.file, "line": hasPlace ? side.location.line : nil,
            "column": hasPlace ? side.location.column : nil,
        ]
    }

    private func partner(_ partner: PartnerCollection) -> ReportValue {
        let time: ServerTime? =
            switch partner.state {
            case .verified(let time), .cutOver(let time): time
            case .unverified: nil
            }
        return [
            "job": partner.name, "source": "\(partner.source)", "target": "\(partner.target)",
            "verified": time?.iso8601,
        ]
    }

    private func source(_ source: ChangeKind.Source) -> ReportValue {
        ["basis": source.basis.rawValue, "text": source.text, "quick_reference": source.quickReference]
    }

    private func weight(_ weight: ChangeWeight) -> ReportValue {
        [
            "total": weight.documents, "holding": weight.withField, "lacking": weight.withoutField,
            "refused": weight.refused,
            "types": ReportValue.object(weight.types.map { ($0.type, .integer($0.documents)) }),
        ]
    }

    private func hint(_ hint: RenameHint) -> ReportValue {
        ["rename": hint.rename, "reason": hint.reason]
    }

    private var verdict: ReportValue {
        [
            "worst": found.verdict?.rawValue, "changes": found.changes.count,
            "breaking": found.count(of: .breaking), "versioned": found.count(of: .versioned),
            "served": found.count(of: .served), "accepted": found.changes.count { found.acceptance(of: $0) != nil },
            "non_breaking": found.count(of: .nonBreaking),
            "consequences": found.consequences.map(\.rawValue), "fail_on": found.failOn.rawValue,
            "failed": found.hasFailed,
        ]
    }
}
