import BSON
import JobReports
import JobState

/// The records of the documents that an undo skips, with the reasons that ``UndoReport`` defines.
extension SkippedStore {
    /// Returns the documents of the job's collection that undos skipped, each with the reason.
    func ofJob() throws -> [(id: BSONValue, left: UndoReport.LeftDocument)] {
        var found: [(id: BSONValue, left: UndoReport.LeftDocument)] = []
        try each(ofOthers: false) { entry in
            guard let reason = UndoReport.Reason(rawValue: entry.reason) else { return }
            found.append((entry.id, UndoReport.LeftDocument(reason: reason, code: entry.code)))
        }
        return found
    }

    /// Counts the documents in other collections that undos skipped, by collection and reason.
    func children() throws -> ChildTally {
        var found = ChildTally()
        try each(ofOthers: true) { entry in
            guard let namespace = entry.namespace, let reason = UndoReport.ChildReason(rawValue: entry.reason) else {
                return
            }
            found.leave(entry.id, of: namespace, because: reason)
        }
        return found
    }
}
