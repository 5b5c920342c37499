public import BSON

extension Tally {
    /// Whether it is known what a document added whose ``lastContribution`` that was.
    public func knows(_ contribution: UInt32) -> Bool { contributions[contribution] != nil }

    /// Takes back what a document added, after the last document was added; of what is not known, nothing.
    /// - Parameters:
    ///   - contribution: what ``lastContribution`` was after the document.
    ///   - id: the document's `_id`.
    public mutating func take(back contribution: UInt32, of id: BSONValue) {
        guard let added = contributions[contribution] else { return }
        counts.remove(added)
        overflowCount -= added.overflowCount
        for index in added.groups.map(Int.init) {
            groups[index].count -= 1
            if added.isNew { groups[index].newCount -= 1 }
            // As the server compares: 1 is 1.0, and NaN is NaN.
            groups[index].samples.removeAll { $0.id.compared(to: id) == .equal }
        }
    }
}

extension DocumentCounts {
    fileprivate mutating func remove(_ added: Contribution) {
        var one = DocumentCounts()
        if changes != nil { one.changes = VerdictChanges() }
        one.add(added.verdict, active: added.active, unexcepted: added.unexcepted, isInLedger: added.isInLedger)
        self += one.negated
    }

    private var negated: DocumentCounts {
        var result = DocumentCounts()
        result.read = -read
        result.certain = -certain
        result.possible = -possible
        result.certainInLedger = -certainInLedger
        result.possibleInLedger = -possibleInLedger
        result.changes = changes?.negated
        result.unexcepted.certain = -unexcepted.certain
        result.unexcepted.possible = -unexcepted.possible
        result.unexcepted.newlyFailing = -unexcepted.newlyFailing
        result.unexcepted.newlyPossible = -unexcepted.newlyPossible
        return result
    }
}

extension VerdictChanges {
    fileprivate var negated: VerdictChanges {
        var result = VerdictChanges()
        result.newlyFailing = -newlyFailing
        result.alreadyFailing = -alreadyFailing
        result.healed = -healed
        result.newlyPossible = -newlyPossible
        result.alreadyPossible = -alreadyPossible
        result.possiblyHealed = -possiblyHealed
        return result
    }
}
