public import BSON

extension Tally {
    /// Whether a document does not certainly fail under the active schema.
    /// - Throws: ``BSONError`` when the bytes are damaged.
    public func fitsActive(_ document: borrowing BSONView) throws(BSONError) -> Bool {
        guard case .covered(let active) = active else { return true }
        return try active.check(document) != .certain
    }

    /// Counts a document as newly failing that was counted as failing already: it synced until a job changed it for a
    /// schema that is not live yet.
    /// - Returns: Whether it fails under both schemas still, as it was counted.
    /// - Throws: ``BSONError`` when the bytes are damaged; nothing is counted then.
    @discardableResult
    public mutating func countAsNew(_ document: borrowing BSONView) throws(BSONError) -> Bool {
        guard case .covered(let active) = active, try schema.check(document) == .certain,
            try active.check(document) == .certain
        else { return false }
        collector.removeAll()
        try schema.collect(document, into: &collector)
        var unexcepted = Verdict.fits
        var seen: Set<Int> = []
        for located in collector.located {
            if let group = index[located], seen.insert(group).inserted { groups[group].newCount += 1 }
            if exceptions.exception(for: located, in: schema) == nil {
                unexcepted = max(unexcepted, Verdict(located.finding.level))
            }
        }
        counts.changes?.alreadyFailing -= 1
        counts.changes?.newlyFailing += 1
        switch unexcepted {
        case .certain: counts.unexcepted.newlyFailing += 1
        case .possible: counts.unexcepted.newlyPossible += 1
        case .fits, .warning: break
        }
        return true
    }
}
