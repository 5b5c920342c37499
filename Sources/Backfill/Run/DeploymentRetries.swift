package import Concurrency
import JobState
import Mongo

extension RetryPolicy {
    /// Bridges what an election, a lost connection, a slow majority or a time limit make fail, and tells of it.
    ///
    /// Who can make an operation smaller that took the server too long refuses to have it repeated as it is.
    package init(
        limit: Duration, stop: StopSignal, events: @Sendable @escaping (RunEvent) -> Void, lost: LostTime = LostTime()
    ) {
        self.init(limit: limit, stop: stop, lost: lost) { error in
            guard let error = error as? MongoError else { return false }
            return error.isTransient || error.isTimeLimit || error.isWriteConcern || error.code == .cursorNotFound
        } onRetry: { error, attempt in
            events(.retrying(reason: "\(error)", attempt: attempt))
        } whenStopped: { error in
            BackfillError(
                .stopped,
                "stopped by a signal while the deployment could not be reached: \(error); run it again")
        }
    }

    /// The policy for what comes before a run: a deployment that is not there at all is told at once.
    var early: RetryPolicy { refusing { ($0 as? MongoError)?.isServerSelection == true } }
}
