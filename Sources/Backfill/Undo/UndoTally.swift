import BSON
import JobReports
import ServerSchema

struct UndoTally {
    /// The largest number of `_id`s that are kept for each reason to skip documents.
    static let samples = 1_000

    var restored = 0
    var asBefore = 0
    var madeUnsyncable = 0
    /// The number of documents that have a restored field at their end, because its position could not be restored.
    var moved = 0
    private(set) var left: [UndoReport.LeftDocument: (ids: [BSONValue], count: Int)] = [:]

    mutating func leave(_ id: BSONValue, _ document: UndoReport.LeftDocument) {
        left[document, default: ([], 0)].count += 1
        if left[document, default: ([], 0)].count <= Self.samples { left[document, default: ([], 0)].ids.append(id) }
    }

    var report: [UndoReport.Skipped] {
        left.map { UndoReport.Skipped(left: $0.key, ids: $0.value.ids, count: $0.value.count) }
            .sorted { ($0.left.reason.rawValue, $0.left.code ?? 0) < ($1.left.reason.rawValue, $1.left.code ?? 0) }
    }
}

/// The counts of an undo for the documents that the job inserted in other collections.
struct ChildTally {
    var removed = 0
    var gone = 0
    /// The number of documents that the undo did not remove, because another client had just changed them.
    var changedByOthers = 0
    private(set) var left: [UndoReport.LeftChildren] = []

    mutating func leave(_ id: BSONValue, of namespace: Namespace, because reason: UndoReport.ChildReason) {
        let known = left.firstIndex { $0.namespace == namespace && $0.reason == reason }
        if known == nil { left.append(UndoReport.LeftChildren(namespace: namespace, reason: reason)) }
        let index = known ?? left.count - 1
        left[index].count += 1
        if left[index].ids.count < UndoTally.samples { left[index].ids.append(id) }
    }
}
