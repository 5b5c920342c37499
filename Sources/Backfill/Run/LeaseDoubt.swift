import JobState
import Mongo

extension Error {
    /// Whether the server may still be at a write after this ended the run.
    ///
    /// Who was refused for want of a privilege has the server's word that it did nothing.
    var leavesDoubt: Bool {
        if let error = self as? MongoError { return !error.isAuthorization }
        return (self as? BackfillError)?.kind == .stopped
    }
}
