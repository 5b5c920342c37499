import BSON
import JobState
import Steps

/// The collection that the record of a started job names.
struct RecordedCollection {
    /// The collection of the job's file; `nil` when the operator gave the job's name alone.
    var named: Namespace?
    /// The database that holds the state of jobs.
    let stateDatabase: String
    /// The ledger that `--ledger` names.
    var ledger: Namespace?

    /// The collection, where a command may write it and the job's file names the same one.
    /// - Throws: ``RunError``.
    func namespace(of record: BSONDocument, _ job: String) throws(RunError) -> Namespace {
        guard let namespace = record["ns"]?.text.flatMap({ Namespace($0) }) else {
            throw RunError(.checkpointUnreadable, "the record of job \"\(job)\" names no collection")
        }
        if let named, named != namespace {
            throw RunError(
                .bindingChanged,
                "job \"\(job)\" was started on \(namespace), and its file names \(named): where \(namespace) is meant, "
                    + "give the job's name in place of its file")
        }
        try namespace.check(stateDatabase: stateDatabase, ledger: ledger)
        return namespace
    }
}
