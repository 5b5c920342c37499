package import BSON

/// The state of a job's undo, which has begun and may have ended.
package struct Undoing: Hashable {
    /// When the undo ended, by the server's clock; `nil` if it has not ended.
    package var ended: ServerTime?
    /// The number of documents restored so far.
    package var restored = 0
    /// The number of the last attempt whose documents in other collections the undo has processed; `nil` if there is
    /// none.
    ///
    /// The job numbered its attempts to write a chunk. The undo removes the documents that the attempts created in
    /// other collections, the newest attempt first. All attempts from this number on are therefore processed.
    package var children: Int64?
    /// The number of documents in other collections that the undo has removed so far.
    package var removed = 0

    /// Reads the state of the undo from the field `undo` of a job's record in the collection `ranges`.
    package init(_ document: BSONDocument) {
        ended = ServerTime(document["ended"])
        restored = document["restored"]?.integer ?? 0
        children = document["children"]?.integer.map { Int64($0) }
        removed = document["removed"]?.integer ?? 0
    }

    /// Returns the error for a command that cannot run or change the job, because the job's undo has begun or ended.
    package func refusal(of job: String) -> RunError {
        let state = ended.map { "was undone at \($0)" } ?? "is being undone"
        let way =
            ended == nil ? "finish the undo with: shipshape undo \(job)" : "to run it again, give the job a new name"
        return RunError(.undoRefused, "job \"\(job)\" \(state); \(way)")
    }
}
