package import Concurrency
import JobState
import Mongo

extension RetryPolicy {
    /// Bridges what an election, a lost connection, a slow majority or a time limit make fail, and reports it.
    ///
    /// A server that sheds load is waited for without a limit.
    /// Who can make an operation smaller that took the server too long refuses to have it repeated as it is.
    package init(
        limit: Duration, stop: StopSignal, events: @Sendable @escaping (RunEvent) -> Void, lost: LostTime = LostTime()
    ) {
        let patience = Patience(
            for: { ($0 as? MongoError)?.isOverload == true }, pause: { Overload.pause(after: $0) },
            surround: { try Overload.within(.short, $0) }, onWait: { events(.waiting([Hold(overload: $0)])) },
            onEnd: { events(.goingOn(seconds: $0.seconds)) })
        self.init(
            limit: limit, stop: stop, lost: lost,
            passes: { error in
                guard let error = error as? MongoError else { return false }
                return error.isTransient || error.isTimeLimit || error.isWriteConcern || error.code == .cursorNotFound
            },
            patience: patience, onRetry: { events(.retrying(reason: "\($0)", attempt: $1)) },
            whenStopped: { error in
                let isShed = (error as? MongoError)?.isOverload == true
                let cause = isShed ? "the server shed load" : "the deployment could not be reached"
                return RunError(.stopped, "stopped by a signal while \(cause): \(error); run it again")
            })
    }

    /// The policy for what comes before a run: a deployment that is not there at all is told at once.
    package var early: RetryPolicy { refusing { ($0 as? MongoError)?.isServerSelection == true } }
}
