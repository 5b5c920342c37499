import BSON
import Checking
import ServerSchema

/// Two parts of the verdict: the part on the documents, and the part on the limit of unsynced documents.
extension CheckReport {
    /// The dialect from which the report takes its words for documents that fail; those of a validator for an App
    /// Services schema that is checked for another engine than Device Sync.
    var words: Dialect { rules.dialect.isOfSync && !isOfDeviceSync ? .jsonSchema : rules.dialect }

    var documentsPart: Report.Part {
        var reasons = lost.map { "\($0.namespace) loses its schema" }
        if rules.dialect == .jsonSchema, rules.hasSchema, verdict.stopping > total.refused.all {
            if engineSentence == nil {
                reasons.append(
                    "With validationLevel \"strict\" the server refuses updates of these documents that do not fix "
                        + "them")
            } else if breaksSchema {
                reasons.append(
                    "With validationLevel \"strict\" the server refuses updates of documents that do not fit the "
                        + "schema, unless an update fixes its document")
            }
        }
        for trace in jobs {
            if trace.convertedCount > 0 {
                let verb = rules.dialect.isOfSync ? "synced" : rules.dialect == .prisma ? "could be read" : "fitted"
                reasons.append(
                    "\(trace.convertedCount.documents) of \(trace.namespace) \(verb) until a job changed "
                        + (trace.convertedCount == 1
                            ? "it. It now fits neither schema, and counts as newly failing"
                            : "them. They now fit neither schema, and count as newly failing"))
            }
            reasons += trace.unfinished.map { "Job \"\($0.job)\" on \(trace.namespace) is not done (\($0.state))" }
            reasons += trace.gaps.map { "\(trace.namespace): \($0)" }
        }
        reasons += absent.map { "\($0) does not exist: there was nothing to check, and clients find no documents" }
        return Report.Part(
            name: "documents", severity: documentsSeverity,
            sentence: engineSentence ?? (rules.dialect.isOfSync ? syncSentence : readingSentence), reasons: reasons)
    }

    /// Whether at least one document certainly breaks a rule of the schema, apart from findings with an exception.
    ///
    /// Rules of a sync engine do not count. If the check has an active schema, only documents that newly fail count.
    private var breaksSchema: Bool {
        collections.contains { collection in
            collection.groups.contains {
                $0.outcome == nil && $0.exception == nil && $0.violation.level == .certain
                    && ($0.newCount ?? $0.count) > 0
            }
        }
    }

    /// The sentence on the documents for a schema without sync: a validator or a Prisma schema.
    private var readingSentence: String {
        switch verdict.band {
        case .safe where failingAlready > 0:
            "No document newly fails, \(failingAlready.grouped) \(fails) already\(missing)."
        case .safe: "Every document \(rules.dialect == .prisma ? "can be read" : "fits")\(missing)."
        case .unproven: unproven
        default: "\(failingSentence)\(excepted)."
        }
    }

    /// Returns up to six collections with such documents, each with their number, such as "Order 425, User 301".
    ///
    /// Those with the most documents come first; the others are counted. The result is `nil` if only one collection has
    /// such documents.
    private func byCollection(_ count: (DocumentCounts) -> Int) -> String? {
        let failing = collections.enumerated().filter { $1.isCounted }.map { ($0, $1, count: count($1.counts)) }
            .filter { $0.count > 0 }.sorted { ($1.count, $0.0) < ($0.count, $1.0) }
        guard failing.count > 1 else { return nil }
        let shown = failing.prefix(6).map { "\($0.1.namespace.collection) \($0.count.grouped)" }
        let more = failing.count - shown.count
        return shown.joined(separator: ", ") + (more > 0 ? " and \(more.counted("more collection"))" : "")
    }

    /// The clauses on the documents that cannot be read, or do not fit; on those that only a unique index refuses; on
    /// those that only an `include` fails to read; and on those that the client never finds by a query with a value.
    private var failingSentence: String {
        let counts = total
        let (unread, refused) = (counts.stoppingUnread, counts.stopping(counts.refused))
        let (unincluded, unfound) = (counts.stopping(counts.unincluded), counts.stopping(counts.unfound))
        let isPrisma = rules.dialect == .prisma
        let reading = isPrisma ? "\(makes(unread)) \(queries(\.stoppingUnread)) fail" : rules.dialect.failing(unread)
        let included = queries { $0.stopping($0.unincluded) }
        let clauses = [
            (unread, reading, byCollection(\.stoppingUnread)),
            (
                refused, "\(makes(refused)) `\(isPrisma ? "prisma db push" : "createIndex")` fail",
                byCollection { $0.stopping($0.refused) }
            ),
            (
                unincluded, "\(makes(unincluded)) \(included) with `include` fail",
                byCollection { $0.stopping($0.unincluded) }
            ),
            (
                unfound, unfound == 1 ? "is read but never found" : "are read but never found",
                byCollection { $0.stopping($0.unfound) }
            ),
        ].filter { $0.0 > 0 }
        let words = clauses.enumerated().map { index, clause in
            let list = clause.2.map { clauses.count > 1 ? " (\($0))" : ": \($0)" } ?? ""
            return "\(index == 0 ? clause.0.documents : "\(clause.0.grouped) more") \(clause.1)\(list)"
        }
        guard words.count > 1 else { return words.first ?? "\(verdict.stopping.documents) fail" }
        return "\(words.dropLast().joined(separator: ", ")), and \(words[words.count - 1])"
    }

    private func makes(_ documents: Int) -> String { rules.isLive ? documents == 1 ? "makes" : "make" : "would make" }

    /// The Prisma client's query that reads such documents, or "queries" if several collections have such documents.
    private func queries(_ count: (DocumentCounts) -> Int) -> String {
        let failing = collections.filter { count($0.counts) > 0 }
        guard failing.count == 1 else { return "queries" }
        return "`prisma.\(failing[0].clientName ?? failing[0].namespace.collection).findMany()`"
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

    /// The sentence for a check in which all failing documents are already in the ledger of unsynced documents.
    private var recorded: String {
        let (count, isOne) = (failingInLedger, failingInLedger == 1)
        return
            "\(count.documents) \(isOne ? "does" : "do") not sync, \(isOne ? "and is" : "all of them") in the ledger "
            + "already; no other document \(stop)."
    }

    private var unproven: String {
        "Nothing \(failingAlready > 0 ? "new " : "")found, but not "
            + (collections.contains { $0.reading.selection != .everything }
                ? "every document was read" : "everything was judged") + ": it is unknown whether the deploy is safe."
    }

    /// A clause with the number of the schema's collections that do not exist; empty if all exist, or if the verdict
    /// counts documents that fail or might fail.
    private var missing: String {
        guard !absent.isEmpty, verdict.stopping + verdict.possiblyStopping == 0 else { return "" }
        return
            ", and \(absent.count.counted("collection")) of the schema \(absent.count == 1 ? "does" : "do") not exist"
    }

    /// The number of documents that fail under both the active schema and the new one; 0 without an active schema.
    private var failingAlready: Int { total.changes?.alreadyFailing ?? 0 }
    private var fails: String { failingAlready == 1 ? "fails" : "fail" }

    /// The consequence for documents that do not fit the new schema, which depends on the state of sync.
    private var stop: String {
        if rules.isLive { return rules.dialect.failing(verdict.stopping) }
        return switch sync.state {
        case .enabled, nil: "would stop syncing"
        case .paused: "would stop syncing once sync is resumed"
        case .terminated: "would not sync once sync is enabled again"
        }
    }

    /// A clause on how many documents would stop syncing and, if the user wants possible findings to count, how many
    /// might.
    private var stopping: String {
        let (certain, possible) = (verdict.stopping, verdict.possiblyStopping)
        if rules.isLive, certain + possible == 0 { return "Every document syncs" }
        if possible == 0 {
            let list = certain > 0 ? byCollection { $0.changes?.newlyFailing ?? $0.newCertain } : nil
            return "\(certain.documents) \(stop)" + (list.map { ": \($0)" } ?? "")
        }
        let may = rules.isLive ? rules.dialect.possiblyFailing : stop.replacing("would", with: "might")
        if certain == 0 { return "\(possible.documents) \(may)" }
        return "\(certain.documents) \(stop), and \(possible.grouped) more might"
    }

    /// A clause with the number of documents that the user's exceptions cover (with an active schema, only of those
    /// that newly fail); empty if there are none.
    private var excepted: String {
        let accepted = (total.changes?.newlyFailing).map { $0 - total.unexcepted.newlyFailing }
        // Without an active schema, `excepted` also counts documents in the ledger. The sentence before this clause
        // does not count those documents, so the clause does not say "of them".
        guard let accepted else { return total.excepted > 0 ? " (\(total.excepted.grouped) excepted)" : "" }
        return accepted > 0 ? ", \(accepted.grouped) of them excepted" : ""
    }

    var limitPart: Report.Part {
        guard isOfDeviceSync else {
            let subject =
                rules.engine.map { $0.name.prefix(1).uppercased() + $0.name.dropFirst() }
                ?? (rules.dialect == .prisma ? "A Prisma client" : "A validator")
            return Report.Part(name: "limit", severity: limitSeverity, sentence: "\(subject) has no limit.")
        }
        let limit = verdict.limit.grouped
        let sentence =
            switch verdict.band {
            case .syncHasStopped: "Sync itself has stopped: the limit of \(limit) is reached."
            case .syncWillStop: "Sync itself will stop: the limit of \(limit) is reached."
            case .syncMightStop: "Sync itself might stop: with all possible findings, the limit of \(limit) is reached."
            case .safe, .unproven, .documentsWillStop: "The limit of \(limit) is not reached."
            }
        var part = Report.Part(name: "limit", severity: limitSeverity, sentence: sentence, figures: sum)
        if sync.state == .terminated {
            part.reasons.append("Sync is terminated: its ledger is empty when sync is enabled again")
        }
        if verdict.isLedgerUnread {
            part.reasons.append("No ledger was read: the number of unsynced documents is unknown")
        }
        return part
    }

    private var sum: String {
        let least = verdict.isPartial ? "at least " : ""
        let ledger = verdict.ledger.map { " (\($0.words) now)" } ?? " (no ledger was found)"
        let worst =
            verdict.isPartial || verdict.newPossible == 0 ? "" : ", at worst \(verdict.pessimistic.grouped)"
        return "\(least)\(verdict.projected.documents) will not sync\(ledger)\(worst); sync stops at "
            + verdict.limit.grouped
    }
}

/// Texts for the verdict on a sync engine other than Device Sync: what halts it, and what does not arrive in it.
extension CheckReport {
    /// The sentence on what happens to the documents in the sync engine; `nil` for Device Sync, and without an engine.
    var engineSentence: String? {
        guard let engine = rules.engine, engine != .deviceSync else { return nil }
        var clauses = total.clauses(on: engine, hasSchema: rules.hasSchema)
        if verdict.possiblyStopping > 0 {
            clauses.append("\(verdict.possiblyStopping.documents) might not arrive unchanged")
        }
        guard !clauses.isEmpty else {
            guard verdict.isPartial else { return everythingArrives(engine) }
            let open = "it is unknown what halts \(engine.name) or does not arrive"
            return "Nothing found, but not every document was read: \(open)."
        }
        if failingAlready > 0 { clauses.append("\(failingAlready.grouped) of them already") }
        let excepted = total.excepted > 0 ? " (\(total.excepted.grouped) excepted)" : ""
        let sentence = clauses.joined(separator: ", ") + excepted + "."
        return verdict.isPartial ? "At least \(sentence)" : sentence
    }

    private func everythingArrives(_ engine: Engine) -> String {
        let all = engine == .any ? "No document troubles an engine" : "Every document arrives in \(engine.name)"
        let fits = rules.hasSchema ? ", and fits the schema" : ""
        let (count, verb) = (absent.count, absent.count == 1 ? "does" : "do")
        return all + fits + (count == 0 ? "" : ", but \(count.counted("collection")) \(verb) not exist") + "."
    }
}

extension DocumentCounts {
    /// Returns clauses on the documents that halt an engine, that never arrive in it, or that lose values.
    ///
    /// The first of these clauses names the engine. A last clause counts other documents that do not fit the schema.
    func clauses(on name: Engine, hasSchema: Bool) -> [String] {
        let counts = engine ?? EngineCounts()
        var clauses: [String] = []
        var place: String { clauses.isEmpty ? " in \(name.name)" : "" }
        if counts.halting > 0 {
            let halt = counts.halting == 1 ? "halts" : "halt"
            clauses.append("\(counts.halting.documents) \(halt) \(name.name) for all users")
        }
        if counts.dropped > 0 {
            clauses.append("\(counts.dropped.documents) never \(counts.dropped == 1 ? "arrives" : "arrive")\(place)")
        }
        if counts.values > 0 {
            let (values, arrive) = counts.values == 1 ? ("value", "arrives") : ("values", "arrive")
            clauses.append(
                "\(counts.values.grouped) \(values) of \(counts.losing.documents) \(arrive)\(place) as 0 or null, or "
                    + "not at all")
        }
        let unfit = hasSchema ? certain - counts.halting - counts.dropped - counts.losing : 0
        if unfit > 0 { clauses.append("\(unfit.documents) \(unfit == 1 ? "does" : "do") not fit the schema") }
        return clauses
    }
}
