import BSON
import ServerSchema

/// What an undo did so far.
struct UndoTally {
    /// Of each reason, so many `_id`s are kept in a dry run.
    static let samples = 1_000

    var restored = 0
    var asBefore = 0
    var harm = 0
    /// What was uncertain, and is taken back all the same.
    private(set) var included: (ids: [BSONValue], count: Int) = ([], 0)
    /// Documents of which a field was given back at the end, as its place could not be.
    var moved = 0
    private(set) var left: [UndoReport.LeftDocument: (ids: [BSONValue], count: Int)] = [:]

    mutating func leave(_ id: BSONValue, _ document: UndoReport.LeftDocument) {
        left[document, default: ([], 0)].count += 1
        if left[document, default: ([], 0)].count <= Self.samples { left[document, default: ([], 0)].ids.append(id) }
    }

    mutating func include(_ id: BSONValue) {
        included.count += 1
        if included.count <= Self.samples { included.ids.append(id) }
    }

    var report: [UndoReport.LeftAlone] {
        left.map { UndoReport.LeftAlone(left: $0.key, ids: $0.value.ids, count: $0.value.count) }
            .sorted { ($0.left.reason.rawValue, $0.left.code ?? 0) < ($1.left.reason.rawValue, $1.left.code ?? 0) }
    }
}

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
