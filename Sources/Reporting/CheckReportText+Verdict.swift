import BSON
import Checking
import ServerSchema

extension CheckReportText {
    /// The headline, and the sum that it comes from.
    var verdict: String { report.dialect == .jsonSchema ? validatorVerdict : syncVerdict }

    /// Under a validator nothing stops: the server refuses to write documents that do not fit.
    private var validatorVerdict: String {
        switch report.verdict.band {
        case .safe where failingAlready > 0:
            paint.green("Safe to deploy: no document newly fails.") + " \(failingAlready.documents) "
                + "\(failingAlready == 1 ? "fails" : "fail") already."
        case .safe: paint.green("Safe to deploy: every document fits.")
        case .unproven: unproven
        default:
            paint.yellow(
                "\(report.verdict.stopping.documents) \(report.verdict.stopping == 1 ? "does" : "do") not fit\(excepted)."
            )
                + "\nWith validationLevel \"strict\" the server refuses every update that leaves one of them as it is."
        }
    }

    private var unproven: String {
        paint.yellow(
            "Nothing \(failingAlready > 0 ? "new " : "")found, but not every document was read: this does not say that "
                + "it is safe.")
    }

    /// The documents that fail under both schemas.
    private var failingAlready: Int { report.total.changes?.alreadyFailing ?? 0 }

    private var syncVerdict: String {
        let verdict = report.verdict
        let limit = verdict.limit.grouped
        let headline =
            switch verdict.band {
            case .safe where !report.lost.isEmpty:
                paint.yellow("\(report.lost.count.counted("collection")) would stop syncing: the schema is removed.")
            case .safe: paint.green("Safe to deploy: 0 documents would stop syncing.")
            case .unproven: unproven
            case .documentsWillStop where verdict.isPartial: paint.yellow("At least \(stopping)\(excepted).")
            case .documentsWillStop: paint.yellow("\(stopping)\(excepted).")
            case .atRisk: paint.red("At risk: if all possible findings hold, sync itself stops (limit \(limit)).")
            case .syncWillStop: paint.red("Sync itself will stop: the limit of \(limit) is reached.")
            }
        let ledger = verdict.ledger?.words ?? "no ledger"
        let sum = "\(ledger), \(verdict.newCertain.grouped) certain, \(verdict.newPossible.grouped) possible"
        let projection =
            verdict.isPartial
            ? "projected at least \(verdict.projected.grouped)"
            : "projected \(verdict.projected.grouped), at worst \(verdict.pessimistic.grouped)"
        return "\(headline)\n\(sum): \(projection), headroom \(verdict.headroom.grouped) of \(limit)"
    }

    /// The documents that stop syncing, and those that may where that counts as much.
    private var stopping: String {
        let (certain, possible) = (report.verdict.stopping, report.verdict.possiblyStopping)
        if possible == 0 { return "\(certain.documents) would stop syncing" }
        if certain == 0 { return "\(possible.documents) may stop syncing" }
        return "\(certain.documents) would stop syncing, and \(possible.grouped) more may"
    }

    /// How many of the documents in the headline the operator has accepted.
    private var excepted: String {
        let total = report.total
        let accepted = (total.changes?.newlyFailing).map { $0 - total.unexcepted.newlyFailing }
        // Without an active schema the headline leaves out what the ledger records, which exceptions know nothing of.
        guard let accepted else { return total.excepted > 0 ? " (\(total.excepted.grouped) excepted)" : "" }
        return accepted > 0 ? ", \(accepted.grouped) of them excepted" : ""
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
