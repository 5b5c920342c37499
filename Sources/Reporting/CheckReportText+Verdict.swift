import BSON
import Checking
import ServerSchema

extension CheckReportText {
    /// The headline, and a line for each of the parts that it comes from.
    var verdict: String {
        let parts = report.parts(ids: ids)
        let lines = parts.flatMap { part in
            [
                "  \(part.name.padded(to: 9))  \(paint(part.severity, part.severity.rawValue.padded(to: 8)))  \(line(part))"
            ]
                + part.reasons.map { "    \($0.printable)" }
        }
        return ([headline] + lines).asLines
    }

    private func line(_ part: VerdictPart) -> String {
        let text = (part.sum ?? part.sentence).printable
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    /// What decides: of what does harm that first which concerns most.
    private var headline: String {
        let (documents, limit, change) = (report.documentsPart, report.limitPart, report.changePart(ids))
        if report.isSafe {
            let sentence = documents.sentence.prefix(1).lowercased() + documents.sentence.dropFirst()
            return paint.green("Safe to deploy: \(sentence)")
        }
        if limit.severity == .harmful { return paint.red(limit.sentence) }
        if change.severity == .harmful { return paint.red(change.sentence) }
        if report.verdict.band == .atRisk { return paint.red(limit.sentence) }
        return documents.severity == .safe ? documents.sentence : paint.yellow(documents.sentence)
    }

    private func paint(_ severity: DeployVerdict.Severity, _ text: String) -> String {
        switch severity {
        case .safe: paint.green(text)
        case .unknown: paint.yellow(text)
        case .harmful: paint.red(text)
        }
    }

    /// The collections that lose their schema.
    var removed: String? {
        guard let active = report.active, !report.removed.isEmpty else { return nil }
        return report.removed.map { removed in
            let name = paint.bold("\(removed.namespace)")
            switch removed.documentCount {
            case 0?: return "\(name): only in \(active); it holds no documents"
            case _ where report.dialect == .jsonSchema:
                return "\(name): only in \(active); not looked at, since what is not validated fits"
            case let count?: return "\(name): only in \(active); none of its about \(count.documents) syncs any more"
            case nil: return "\(name): only in \(active); none of its documents syncs any more"
            }
        }.asLines
    }

    /// What became of the operator's exceptions.
    var exceptions: String? {
        guard let use = report.exceptions else { return nil }
        var lines = use.expired.map { exception in
            paint.red("Expired on \(exception.expires ?? ""):") + " the exception for \(describe(exception))"
        }
        if !use.matched.isEmpty {
            lines.append(
                "\(use.matched.count.counted("exception")) of \(use.file) held; the documents still count in the "
                    + "projection, since the server does not know of exceptions.")
        }
        lines += use.unmatched.map { "Matched nothing: the exception for \(describe($0))" }
        return lines.isEmpty ? nil : lines.asLines
    }

    private func describe(_ exception: FindingException) -> String {
        "\(exception.rule) of \(exception.path) in \(exception.namespace) (\(exception.location), owner "
            + "\(exception.owner.printable))"
    }
}
