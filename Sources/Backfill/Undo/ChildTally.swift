import BSON
import ServerSchema

/// What an undo did with the documents that the job had made in other collections.
struct ChildTally {
    var removed = 0
    var gone = 0
    /// Of those that were about to be removed, so many were changed before.
    var changedMeanwhile = 0
    private(set) var left: [UndoReport.LeftChildren] = []

    mutating func leave(_ id: BSONValue, of namespace: Namespace, because reason: UndoReport.ChildReason) {
        let index =
            left.firstIndex { $0.namespace == namespace && $0.reason == reason }
            ?? {
                left.append(UndoReport.LeftChildren(namespace: namespace, reason: reason))
                return left.count - 1
            }()
        left[index].count += 1
        if left[index].ids.count < UndoTally.samples { left[index].ids.append(id) }
    }
}
