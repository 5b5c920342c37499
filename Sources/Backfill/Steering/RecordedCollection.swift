import BSON
import JobState
import Running
import Steps

/// The collection of a started job, as the job's record names it.
struct RecordedCollection {
    /// The collection that the job's file names; `nil` if the operator gave only the job's name.
    var named: Namespace?
    let stateDatabase: String
    /// The ledger of unsynced documents that the setting `ledger` names; `nil` if it names none.
    var ledger: Namespace?

    /// Returns the collection that a job's record names.
    /// - Throws: ``RunError`` when the job's file names another collection; when the record names no collection; or
    ///   when the record names a collection that no job may write to, such as the ledger of unsynced documents.
    func namespace(of record: BSONDocument, _ job: String) throws(RunError) -> Namespace {
        guard let namespace = record["ns"]?.text.flatMap({ Namespace($0) }) else {
            throw RunError(.checkpointUnreadable, "the record of job \"\(job)\" names no collection")
        }
        if let named, named != namespace {
            throw RunError(
                .bindingChanged,
                "job \"\(job)\" was started on \(namespace), but its file names \(named): if you mean \(namespace), "
                    + "give the job's name instead of its file")
        }
        try namespace.check(stateDatabase: stateDatabase, ledger: ledger)
        return namespace
    }
}
