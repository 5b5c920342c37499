import BSON
import JobReports
import ServerSchema

/// The counts of an undo so far.
struct UndoTally {
    /// The largest number of `_id`s that are kept for each reason to skip documents.
    static let samples = 1_000

    var restored = 0
    var asBefore = 0
    /// The number of documents that the undo made unsyncable.
    private(set) var madeUnsyncable = 0
    /// The changes that the undo undid at the operator's request, although it is uncertain that the job made them.
    ///
    /// `ids` has the `_id`s of the changed documents, at most ``samples``.
    private(set) var included: (ids: [BSONValue], count: Int) = ([], 0)
    /// The number of documents that have a restored field at their end, because its position could not be restored.
    private(set) var moved = 0
    /// The documents that the undo makes unsyncable (`unsyncable`), or that get a field at their end (`moved`).
    ///
    /// A restored field is added at the end of its document if its position could not be restored.
    /// These documents have unfinished journal entries. A batch that has to be tried again finds the same documents
    /// again, so they are counted only when their journal entries are finished.
    private var unfinished: (unsyncable: Set<BSONValue>, moved: Set<BSONValue>) = ([], [])
    private(set) var left: [UndoReport.LeftDocument: (ids: [BSONValue], count: Int)] = [:]

    mutating func leave(_ id: BSONValue, _ document: UndoReport.LeftDocument) {
        left[document, default: ([], 0)].count += 1
        if left[document, default: ([], 0)].count <= Self.samples { left[document, default: ([], 0)].ids.append(id) }
    }

    mutating func include(_ id: BSONValue) {
        included.count += 1
        if included.count <= Self.samples { included.ids.append(id) }
    }

    /// Records documents that the undo makes unsyncable; ``finish(_:where:)`` counts them.
    mutating func makeUnsyncable(_ ids: some Sequence<BSONValue>) { unfinished.unsyncable.formUnion(ids) }

    /// Records documents that get a restored field at their end; ``finish(_:where:)`` counts them.
    mutating func move(_ ids: some Sequence<BSONValue>) { unfinished.moved.formUnion(ids) }

    /// Counts the documents whose journal entries are finished now, if they were recorded as unsyncable or as moved.
    /// - Parameters:
    ///   - ids: the documents of the finished entries.
    ///   - wasKept: returns `false` for a document that the undo skipped.
    mutating func finish(_ ids: [BSONValue], where wasKept: (BSONValue) -> Bool) {
        for id in ids {
            if unfinished.unsyncable.remove(id) != nil, wasKept(id) { madeUnsyncable += 1 }
            if unfinished.moved.remove(id) != nil, wasKept(id) { moved += 1 }
        }
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
