import BSON
import Checking
import ServerSchema

extension CheckReportText {
    /// The headline, and a line for each of the parts that it comes from.
    var verdict: String {
        let parts = report.parts(ids: ids)
        let lines = parts.flatMap { part in
            let severity = paint(part.severity, part.severity.rawValue.padded(to: 8))
            let lines = line(part).wrapped(to: width, indent: 23)
            let first = "  \(part.name.padded(to: 9))  \(severity)  \((lines.first ?? "").dropFirst(23))"
            return [first] + lines.dropFirst() + part.reasons.flatMap { $0.printable.wrapped(to: width, indent: 4) }
        }
        return headline + "\n" + lines.asLines
    }

    private func line(_ part: VerdictPart) -> String {
        let text = (part.sum ?? part.sentence).printable
        return text.hasSuffix(".") ? String(text.dropLast()) : text
    }

    var headline: String {
        let (text, level) = report.headline(ids: ids)
        return text.printable.wrapped(to: width).map { paint(level, $0) }.joined(separator: "\n")
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
        let lines = report.removed.compactMap { removed in
            fate(of: removed).map { "\(paint.bold("\(removed.namespace)")): \($0)" }
        }
        return lines.isEmpty ? nil : lines.asLines
    }

    /// What becomes of a collection that only the active schema covers.
    func fate(of removed: RemovedCollection) -> String? {
        report.active.map { active in
            switch removed.documentCount {
            case 0?: "only in \(active); it holds no documents"
            case _ where report.dialect == .jsonSchema:
                "only in \(active); not looked at, since what is not validated fits"
            case let count?: "only in \(active); none of its about \(count.documents) syncs any more"
            case nil: "only in \(active); none of its documents syncs any more"
            }
        }
    }

    /// What became of the operator's exceptions, a line each.
    var exceptions: [String] {
        guard let use = report.exceptions else { return [] }
        var lines = use.expired.map { exception in
            paint.red("Expired on \(exception.expires ?? ""):") + " the exception for \(describe(exception))"
        }
        if !use.matched.isEmpty {
            lines.append(
                "\(use.matched.count.counted("exception")) of \(use.file) held; the documents still count in the "
                    + "projection, since the server does not know of exceptions.")
        }
        lines += use.unmatched.map { "Matched nothing: the exception for \(describe($0))" }
        return lines
    }

    private func describe(_ exception: FindingException) -> String {
        "\(exception.rule) of \(exception.path) in \(exception.namespace) (\(exception.location), owner "
            + "\(exception.owner.printable))"
    }
}
