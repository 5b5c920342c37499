import BSON
import Checking
import ServerSchema

/// Texts about the collections of a check.
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
        return lines + collection.reading.sentences
            + collection.unevaluatedKeywords.map {
                "Not judged: \($0.keyword) of \($0.path) (\($0.file):\($0.line))"
            }
    }

    /// Returns a clause for each special fact about a collection, for example that the verdict does not count its
    /// documents.
    func circumstances(of collection: Collection) -> [String] {
        [
            collection.reading.namespace.map { "read from \($0)" },
            collection.isInActive == false ? "not in \(active ?? "the active schema")" : nil,
            collection.partner.map { "keeps its schema, because its partner \($0) serves the change" },
            collection.isCounted ? nil : "\(collection.scope.reason): not in the verdict",
        ].compactMap(\.self)
    }

    /// Returns how many documents of a collection were read, and how many of them fail.
    func summary(of collection: Collection) -> String {
        let counts = collection.counts
        var read = "\(counts.read.documents) read"
        if let exact = collection.reading.exactCount {
            read += " of \(exact.grouped)"
        } else if let estimated = collection.estimatedCount {
            read += " of about \(estimated.grouped)"
        }
        let failing = [
            failing(counts.certain, counts.newCertain, of: collection.judgedCount, words.failing(counts.certain)),
            failing(counts.possible, counts.newPossible, of: collection.judgedCount, "might not sync"),
        ].compactMap { $0 }
        if counts.read == 0 { return read }
        if let engine, engine != .deviceSync {
            let possible = counts.possible > 0 ? ["\(counts.possible.grouped) might not arrive unchanged"] : []
            let clauses = counts.clauses(on: engine, hasSchema: hasSchema) + possible
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

    /// Returns the consequence for a collection that only the active schema covers; `nil` without an active schema.
    func fate(of removed: RemovedCollection) -> String? {
        active.map { active in
            switch removed.documentCount {
            case 0?: "only in \(active); it holds no documents"
            case _ where !dialect.isOfSync:
                "only in \(active); not checked, because "
                    + (dialect == .prisma ? "the client no longer reads it" : "without a validator every document fits")
            case let count?: "only in \(active); none of its about \(count.documents) syncs any more"
            case nil: "only in \(active); none of its documents syncs any more"
            }
        }
    }

    /// A line for each limit that the operator states, with the number of documents that fail.
    var limitNotes: [String] {
        limits.map { use in
            let place = use.namespace.map { " of \($0)" } ?? (limits.count > 1 ? " of the other collections" : "")
            let rule = use.rule.map { " by \($0)" } ?? ""
            let count = "\(use.failing.grouped) of \(use.judged.grouped) (\(Share(use.failing, of: use.judged).text))"
            return "\(use.isExceeded ? "Too many" : "Accepted"): \(count) documents\(place) fail\(rule), at most "
                + "\(use.limit) may."
        }
    }

    /// One line for each of the operator's exceptions that has expired or matched nothing, and one line with the number
    /// of exceptions that matched.
    var exceptionNotes: [String] {
        guard let use = exceptions else { return [] }
        var lines = use.expired.map { exception in
            "Expired on \(exception.expires ?? ""): the exception for \(describe(exception))"
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
        "\(exception.rule) of \(exception.path) in \(exception.namespace) (\(exception.location), owner "
            + "\(exception.owner))"
    }
}

extension SyncScope {
    /// The reason why documents of a collection with this role in sync do not count in the verdict.
    fileprivate var reason: String {
        switch self {
        case .synced: "synced"
        case .asymmetric: "clients only write to it"
        case .outside: "outside the synced data source"
        }
    }
}
