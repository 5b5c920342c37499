import BSON
import Mongo

/// Writing documents only as they were journaled.
///
/// What a step takes away for good the journal has to hold exactly: a document that a user changes between the two is
/// left for the next look, or undo would give back a value that is not the user's last.
extension ChunkWriter {
    /// The most updates and bytes of a command, so that none takes long.
    private static let most = (updates: 500, bytes: 4 << 20)

    /// What is to be sent for a chunk, the updates of one command together.
    /// - Parameters:
    ///   - journal: the documents, and what they have to be like still.
    ///   - judged: the only documents that may be written; `nil` for all.
    /// - Throws: ``BSONError``, which would be a bug.
    func commands(as journal: ChunkJournal, only judged: Selection?) throws -> [[Update]] {
        let harmless = Set(judged?.harmless ?? [])
        let counted = Set(judged?.counted ?? [])
        var commands: [[Update]] = []
        var current: [Update] = []
        var size = 0
        for group in try journal.groups() {
            let isSame = try group.isStillSo()
            for (ids, steps) in [
                (judged == nil ? group.ids : group.ids.filter(counted.contains), phase.steps),
                (group.ids.filter(harmless.contains), phase.harmlessSteps),
            ] where !steps.isEmpty {
                for slice in ids.commandSlices() {
                    let update = Update(
                        condition: .all([need(of: steps)] + isSame + group.othersAreDone(among: steps)),
                        ids: .array(of: slice),
                        harm: slice.filter { judged?.harmful.contains($0) ?? false }, pipeline: steps.updateOfNeeding)
                    let added = update.byteCount
                    if !current.isEmpty, current.count == Self.most.updates || size + added > Self.most.bytes {
                        commands.append(current)
                        (current, size) = ([], 0)
                    }
                    current.append(update)
                    size += added
                }
            }
        }
        return current.isEmpty ? commands : commands + [current]
    }
}

extension ChunkWriter.Update {
    /// About what it takes in a command.
    fileprivate var byteCount: Int {
        BSONDocument([("q", condition.bson), ("i", ids ?? .null), ("u", .array(of: pipeline.map { .object($0) }))])
            .bytes.count
    }
}

extension JournalGroup {
    /// Whether a document still has what the group's documents had.
    fileprivate func isStillSo() throws(BSONError) -> [Expression] {
        try Expression.areExactly(names, asIn: before)
    }

    /// Whether no step has become due that was not when the journal was read: the update runs them all.
    fileprivate func othersAreDone(among steps: [CompiledStep]) -> [Expression] {
        let changed = Set(names)
        return steps.filter { step in changed.isDisjoint(with: step.step.kind.touched.map { $0.components[0] }) }
            .map { !$0.needs }
    }
}
