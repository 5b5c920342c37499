import BSON
import Checking
import ServerSchema

/// What the verdict says of the documents and of the limit.
extension CheckReport {
    var documentsPart: VerdictPart {
        var reasons = lost.map { "\($0.namespace) loses its schema" }
        if dialect == .jsonSchema, verdict.stopping > 0 {
            reasons.append(
                "With validationLevel \"strict\" the server refuses every update that leaves one of them as it is")
        }
        for trace in jobs {
            if trace.convertedCount > 0 {
                reasons.append(
                    "\(trace.convertedCount.documents) of \(trace.namespace) synced until a job changed "
                        + "\(trace.convertedCount == 1 ? "it" : "them"), and \(trace.convertedCount == 1 ? "fits" : "fit") neither schema "
                        + "now: newly failing")
            }
            reasons += trace.unfinished.map { "Job \"\($0.job)\" on \(trace.namespace) is not done (\($0.state))" }
            reasons += trace.gaps.map { "\(trace.namespace): \($0)" }
        }
        reasons += absent.map { "\($0) does not exist: there was nothing to check, and clients find nothing there" }
        return VerdictPart(
            name: "documents", severity: documentsSeverity,
            sentence: dialect == .jsonSchema ? validatorSentence : syncSentence, reasons: reasons)
    }

    /// Under a validator nothing stops: the server refuses to write documents that do not fit.
    private var validatorSentence: String {
        switch verdict.band {
        case .safe where failingAlready > 0:
            "No document newly fails, \(failingAlready.grouped) \(fails) already\(missing)."
        case .safe: "Every document fits\(missing)."
        case .unproven: unproven
        default: "\(verdict.stopping.documents) \(verdict.stopping == 1 ? "does" : "do") not fit\(excepted)."
        }
    }

    private var syncSentence: String {
        let count = verdict.stopping + verdict.possiblyStopping
        if count == 0, !lost.isEmpty {
            return "\(lost.count.counted("collection")) \(stop): the schema is removed."
        }
        if failingInLedger > 0 { return recorded }
        if count == 0, verdict.isPartial { return unproven }
        let already = count == 0 && failingAlready > 0 ? ", \(failingAlready.grouped) \(fails) already" : ""
        let stopping = "\(stopping)\(excepted)\(already)\(missing)."
        return verdict.isPartial ? "At least \(stopping)" : stopping
    }

    /// The sentence on documents that do not sync, all of which the ledger records.
    private var recorded: String {
        let (count, isOne) = (failingInLedger, failingInLedger == 1)
        return
            "\(count.documents) \(isOne ? "does" : "do") not sync, \(isOne ? "and is" : "all of them") in the ledger "
            + "already; no other \(stop)."
    }

    private var unproven: String {
        "Nothing \(failingAlready > 0 ? "new " : "")found, but not every document was read: this does not say that it is "
            + "safe."
    }

    /// The collections that nothing could be said of.
    private var missing: String {
        guard !absent.isEmpty, verdict.stopping + verdict.possiblyStopping == 0 else { return "" }
        return
            ", and \(absent.count.counted("collection")) of the schema \(absent.count == 1 ? "does" : "do") not exist"
    }

    /// The documents that fail under both schemas.
    private var failingAlready: Int { total.changes?.alreadyFailing ?? 0 }
    private var fails: String { failingAlready == 1 ? "fails" : "fail" }

    /// What becomes of documents that do not fit, as the state of sync has it.
    private var stop: String {
        switch sync.state {
        case .enabled, nil: "would stop syncing"
        case .paused: "would stop syncing once sync is resumed"
        case .terminated: "would not sync once sync is enabled again"
        }
    }

    /// The documents that stop syncing, and those that may where that counts as much.
    private var stopping: String {
        let (certain, possible) = (verdict.stopping, verdict.possiblyStopping)
        if possible == 0 { return "\(certain.documents) \(stop)" }
        let may = stop.replacing("would", with: "might")
        if certain == 0 { return "\(possible.documents) \(may)" }
        return "\(certain.documents) \(stop), and \(possible.grouped) more might"
    }

    /// How many of the documents in the sentence the operator has accepted.
    private var excepted: String {
        let accepted = (total.changes?.newlyFailing).map { $0 - total.unexcepted.newlyFailing }
        // Without an active schema the sentence leaves out what the ledger records, which exceptions know nothing of.
        guard let accepted else { return total.excepted > 0 ? " (\(total.excepted.grouped) excepted)" : "" }
        return accepted > 0 ? ", \(accepted.grouped) of them excepted" : ""
    }

    var limitPart: VerdictPart {
        guard dialect == .appServices else {
            return VerdictPart(name: "limit", severity: limitSeverity, sentence: "A validator has no limit.")
        }
        let limit = verdict.limit.grouped
        let sentence =
            switch verdict.band {
            case .syncHasStopped: "Sync itself has stopped: the limit of \(limit) is reached."
            case .syncWillStop: "Sync itself will stop: the limit of \(limit) is reached."
            case .atRisk: "At risk: if all possible findings hold, sync itself stops (limit \(limit))."
            case .safe, .unproven, .documentsWillStop: "The limit of \(limit) is not reached."
            }
        var part = VerdictPart(name: "limit", severity: limitSeverity, sentence: sentence, sum: sum)
        if sync.state == .terminated {
            part.reasons.append("Sync is terminated: it begins with an empty ledger once it is enabled again")
        }
        if isLedgerUnread {
            part.reasons.append("No ledger was read: how many documents are unsynced already is not known")
        }
        return part
    }

    private var sum: String {
        let ledger = verdict.ledger?.words ?? "no ledger"
        let findings = "\(ledger), \(verdict.newCertain.grouped) certain, \(verdict.newPossible.grouped) possible"
        let projection =
            verdict.isPartial
            ? "projected at least \(verdict.projected.grouped)"
            : "projected \(verdict.projected.grouped), at worst \(verdict.pessimistic.grouped)"
        return "\(findings): \(projection), headroom \(verdict.headroom.grouped) of \(verdict.limit.grouped)"
    }
}
