package import BSON

/// The undo of a job, begun or ended.
package struct Undoing: Hashable {
    /// When it began, by the server's clock.
    var begun: ServerTime?
    /// When it ended; `nil` while it has not.
    package var ended: ServerTime?
    /// The place in the journal that it has reached, from newest to oldest; everything newer is undone.
    package var position: JournalPosition?
    /// The number of documents restored so far.
    package var restored = 0
    /// The attempt down to which documents created in other collections were removed; `nil` before the first removal.
    package var children: Int64?
    /// The number of those documents removed so far.
    package var removed = 0

    /// Reads the undo from the range's record.
    package init(_ document: BSONDocument) {
        begun = ServerTime(document["begun"])
        ended = ServerTime(document["ended"])
        position = document["at"]?.document.flatMap(JournalPosition.init)
        restored = document["restored"]?.integer ?? 0
        children = document["children"]?.integer.map { Int64($0) }
        removed = document["removed"]?.integer ?? 0
    }

    /// Returns the error that refuses to run or steer the job because of its undo.
    package func refusal(of job: String) -> RunError {
        let state = ended.map { "was undone at \($0)" } ?? "is being undone"
        let way =
            ended == nil ? "finish the undo with: shipshape undo \(job)" : "to run it again, give the job a new name"
        return RunError(.undoRefused, "job \"\(job)\" \(state); \(way)")
    }
}
