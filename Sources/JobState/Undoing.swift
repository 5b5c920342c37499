package import BSON

/// An undo that was begun.
package struct Undoing: Hashable {
    /// When, by the server's clock.
    var begun: ServerTime?
    /// When it was done; `nil` while it is not.
    package var ended: ServerTime?
    /// What is taken back already: everything that is newer.
    package var position: JournalPosition?
    /// What was taken back so far.
    package var restored = 0
    /// The attempt up to which documents of other collections were removed; `nil` before the first.
    package var children: Int64?
    /// How many were so far.
    package var removed = 0

    package init(_ document: BSONDocument) {
        begun = ServerTime(document["begun"])
        ended = ServerTime(document["ended"])
        position = document["at"]?.document.flatMap(JournalPosition.init)
        restored = document["restored"]?.integer ?? 0
        children = document["children"]?.integer.map { Int64($0) }
        removed = document["removed"]?.integer ?? 0
    }

    /// Why the job neither runs nor is steered.
    package func refusal(of job: String) -> RunError {
        let state = ended.map { "was undone at \($0)" } ?? "is being undone"
        let way =
            ended == nil ? "end it with: shipshape undo \(job)" : "to do it once more, give the job a new name"
        return RunError(.undoRefused, "job \"\(job)\" \(state); \(way)")
    }
}
