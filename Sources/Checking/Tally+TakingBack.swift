public import BSON

extension Tally {
    /// Takes back what a document added, after the last document was added.
    /// - Parameters:
    ///   - contribution: what ``lastContribution`` was after the document.
    ///   - id: the document's `_id`.
    /// - Returns: Whether it is known what the document added; if not, nothing is taken back.
    public mutating func take(back contribution: UInt32, of id: BSONValue) -> Bool {
        guard let added = contributions[contribution] else { return false }
        counts.remove(added)
        overflowCount -= added.overflowCount
        // By bytes, because NaN equals nothing.
        let bytes = BSONDocument([("", id)])
        for index in added.groups.map(Int.init) {
            groups[index].count -= 1
            if added.isNew { groups[index].newCount -= 1 }
            groups[index].samples.removeAll { BSONDocument([("", $0.id)]) == bytes }
        }
        return true
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
