import BSON
import Checking
import ServerSchema

extension CheckReport {
    /// Returns the remarks that follow the findings of a collection, one per element; empty if there are none.
    func remarks(on collection: Collection) -> [String] {
        var lines: [String] = []
        if collection.overflowCount > 0 {
            let more =
                collection.overflowCount == 1
                ? "1 more finding is" : "\(collection.overflowCount.grouped) more findings are"
            lines.append("\(more) counted but not listed: too many kinds.")
        }
        return lines + collection.reading.sentences(statesMoment: commonMoment == nil)
            + collection.unevaluatedKeywords.map {
                "Not judged: \($0.keyword) of \($0.path) (\($0.file):\($0.line))"
            }
    }

    /// Returns a clause for each exceptional property of a collection, for example that the verdict does not count its
    /// documents.
    func circumstances(of collection: Collection) -> [String] {
        [
            collection.reading.namespace.map { "read from \($0)" },
            collection.isInActive == false ? "not in \(active?.name ?? "the active schema")" : nil,
            collection.partner.map { "keeps its schema, because its partner \($0) serves the change" },
            collection.isCounted ? nil : "\(collection.scope.reason): not in the verdict",
        ].compactMap(\.self)
    }

    /// Returns the number of documents of a collection, all of which were read, and that they fit or arrive; `nil` if a
    /// document fails or might fail.
    func uniform(_ collection: Collection) -> (documents: Int, words: String)? {
        let counts = collection.counts
        guard collection.groups.isEmpty, !absent.contains(collection.namespace), counts.certain + counts.possible == 0,
            collection.reading.exactCount.map({ $0 == counts.read }) ?? true
        else { return nil }
        let arrives = rules.engine.map { $0 != .deviceSync } ?? false
        return (counts.read, arrives ? "all arrive" : "all fit")
    }

    /// Returns how many documents of a collection were read, and how many of them fail or might fail.
    func summary(of collection: Collection) -> String {
        let counts = collection.counts
        var read = "\(counts.read.documents) read"
        if let exact = collection.reading.exactCount {
            read += " of \(exact.grouped)"
        } else if let estimated = collection.estimatedCount, estimated != counts.read {
            read += " of about \(estimated.grouped)"
        }
        let (unread, refused) = (counts.unread, counts.refused.all)
        let failing = [
            failing(unread, counts.newCertain, of: collection.judgedCount, words.failing(unread)),
            failing(
                refused, 0, of: collection.judgedCount, "\(refused == 1 ? "is" : "are") refused by a unique index"),
            failing(counts.unincluded.all, 0, of: collection.judgedCount, "fail with an include"),
            failing(counts.unfound.all, 0, of: collection.judgedCount, "never found"),
            failing(counts.possible, counts.newPossible, of: collection.judgedCount, words.possiblyFailing),
        ].compactMap { $0 }
        if counts.read == 0 { return read }
        if let engine = rules.engine, engine != .deviceSync {
            let possible = counts.possible > 0 ? ["\(counts.possible.grouped) might not arrive unchanged"] : []
            let clauses = counts.clauses(on: engine, hasSchema: rules.hasSchema) + possible
            // The headline says the same of a single collection.
            if collections.count == 1, !clauses.isEmpty { return read }
            return "\(read), \(clauses.isEmpty ? "all arrive" : clauses.joined(separator: ", "))"
        }
        let excepted = counts.excepted > 0 ? ", \(counts.excepted.grouped) excepted" : ""
        return "\(read), \(failing.isEmpty ? "all fit" : failing.joined(separator: ", "))\(excepted)"
    }

    private func failing(_ count: Int, _ new: Int, of judged: Int, _ consequence: String) -> String? {
        guard count > 0 else { return nil }
        let share = "\(count.grouped) (\(Share(count, of: judged).text)) \(consequence)"
        if !isOfDeviceSync || verdict.ledger == nil { return share }
        return "\(share) (\(new.grouped) not in the ledger)"
    }

    /// Returns a remark on a collection that only the active schema covers; `nil` without an active schema.
    func fate(of removed: RemovedCollection) -> String? {
        active.map(\.name).map { active in
            switch removed.documentCount {
            case 0?: "only in \(active); it holds no documents"
            case _ where !rules.dialect.isOfSync:
                "only in \(active); not checked, because "
                    + (rules.dialect == .prisma
                        ? "the client no longer reads it" : "without a validator every document fits")
            case let count?: "only in \(active); none of its about \(count.documents) syncs any more"
            case nil: "only in \(active); none of its documents syncs any more"
            }
        }
    }

    /// The moment at which all counts were true, for the end of the report; `nil` if the collections were not read as
    /// of the same moment.
    var commonMoment: String? {
        guard let first = collections.first?.reading.moment,
            collections.allSatisfy({ $0.reading.moment == first })
        else { return nil }
        return first
    }

    /// A line for each of the user's limits on failing documents, with the number of documents that fail.
    var limitNotes: [String] {
        limits.map { use in
            let place = use.namespace.map { " of \($0)" } ?? (limits.count > 1 ? " of the other collections" : "")
            let rule = use.rule.map { " by \($0)" } ?? ""
            let count = "\(use.failing.grouped) of \(use.judged.grouped) (\(Share(use.failing, of: use.judged).text))"
            return "\(use.isExceeded ? "Too many" : "Accepted"): \(count) documents\(place) fail\(rule), at most "
                + "\(use.limit) may."
        }
    }

    /// One line for each of the user's exceptions that has expired or matched nothing, and one line with the number
    /// of exceptions that matched.
    var exceptionNotes: [String] {
        guard let use = exceptions else { return [] }
        var lines = use.expired.map { exception in
            "Expired on \(exception.acceptance.expires ?? ""): the exception for \(describe(exception))"
        }
        if !use.matched.isEmpty {
            lines.append(
                "\(use.matched.count.counted("exception")) of \(use.file) matched"
                    + (isOfDeviceSync
                        ? "; the documents still count in the projection, because the server does not know the "
                            + "exceptions." : "."))
        }
        lines += use.unmatched.map { "Matched nothing: the exception for \(describe($0))" }
        return lines
    }

    private func describe(_ exception: FindingException) -> String {
        "\(exception.rule) of \(exception.path) in \(exception.namespace) (\(exception.acceptance.location), owner "
            + "\(exception.acceptance.owner))"
    }
}

extension SyncScope {
    /// The reason why the verdict does not count the collection's documents.
    fileprivate var reason: String {
        switch self {
        case .synced: "synced"
        case .asymmetric: "clients only write to it"
        case .outside: "outside the synced data source"
        }
    }
}

extension CheckReport.Collection.Reading {
    /// The moment at which the counts were true, with the number of documents that changed during the scan; `nil` if
    /// the counts are not those of one moment.
    fileprivate var moment: String? {
        clusterTime.map { time in
            let again = changedCount > 0 ? "; \(changedCount.documents) changed during the scan" : ""
            return "\(time)\(again)"
        }
    }

    /// Returns sentences on how the collection was read, for example on documents that were not read, or on a guarantee
    /// that the result lacks.
    /// - Parameter statesMoment: whether one of the sentences states the moment at which the counts were true.
    func sentences(statesMoment: Bool) -> [String] {
        var lines: [String] = []
        switch selection {
        case .everything: break
        case .matching(let filter):
            lines.append("Only documents that match \(BSONValue.object(filter).shellText) were read.")
        case .sample(let count): lines.append("Only a random sample of at most \(count.documents) was read.")
        case .part(let part):
            lines.append(
                "Only part \(part) of the documents was read. To join all parts: shipshape check --join REPORT…")
        }
        if let passed = passedOverCount {
            let (were, fit) = passed == 1 ? ("was", "it fits") : ("were", "they fit")
            lines.append("About \(passed.documents) \(were) not read: the prefilter proves that \(fit).")
        }
        if statesMoment, let moment { lines.append("Consistent as of \(moment).") }
        if let comparison { lines.append(comparison.sentence) }
        return lines + missing.map { "\($0.guarantee.words): \($0.reason)." }
    }
}

extension MissingGuarantee.Guarantee {
    /// The weakness of a result that lacks this guarantee, as a clause.
    fileprivate var words: String {
        switch self {
        case .oneMoment: "Not a point-in-time result"
        case .resumable: "Not resumable: a lost cursor ends the check"
        case .everyDocument: "Some documents might not have been judged"
        case .everyIndex: "A unique index was not judged"
        case .sameCollection: "The collection might have been replaced during the check"
        }
    }
}

extension CheckReportJSON {
    func reading(_ collection: CheckReport.Collection) -> ReportValue {
        let reading = collection.reading
        let source = reading.namespace ?? collection.namespace
        return [
            "database": source.database, "collection": source.collection,
            "cluster_time": reading.clusterTime.map { ["t": $0.seconds, "i": $0.ordinal] as ReportValue },
            "documents_changed": reading.changedCount, "selection": selection(reading.selection),
            "documents_passed_over": reading.passedOverCount, "documents_counted": reading.exactCount,
            "missing_guarantees": reading.missing.map {
                ["guarantee": $0.guarantee.rawValue, "reason": $0.reason] as ReportValue
            },
        ]
    }

    private func selection(_ selection: CheckReport.Collection.Selection) -> ReportValue {
        switch selection {
        case .everything: ["kind": "everything"]
        case .matching(let filter): ["kind": "matching", "filter": filter]
        case .sample(let count): ["kind": "sample", "size": count]
        case .part: ["kind": "part"]
        }
    }
}
