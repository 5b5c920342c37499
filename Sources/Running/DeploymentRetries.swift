package import Concurrency
import JobState
import Mongo

extension RetryPolicy {
    /// Creates the retry policy for operations on the deployment.
    ///
    /// The policy retries an operation after an election, a lost connection, a lost cursor, a write that a majority did
    /// not confirm in time, or the error that the operation took too long. It reports each retry.
    ///
    /// While the server refuses commands because of its load, the policy retries without a time limit. A caller that
    /// can make an operation smaller when it takes too long uses ``refusing(_:)``, so that the operation is not
    /// repeated unchanged.
    /// - Parameter survivesDrops: whether the policy also retries a command whose collection or index was dropped while
    ///   the command ran.
    package init(
        limit: Duration, stop: StopSignal, events: @Sendable @escaping (RunEvent) -> Void, lost: LostTime = LostTime(),
        survivesDrops: Bool = false
    ) {
        let unlimited = Unlimited(
            for: { ($0 as? MongoError)?.isOverload == true }, pause: { Overload.pause(after: $0) },
            aroundAttempt: { try Overload.within(.short, $0) },
            onWait: { events(.waiting([WaitReason($0)])) },
            onEnd: { events(.continuing(seconds: $0.seconds)) })
        self.init(
            limit: limit, stop: stop, lost: lost,
            passes: { error in
                guard let error = error as? MongoError else { return false }
                return error.isTransient || error.isTimeLimit || error.isWriteConcern || error.code == .cursorNotFound
                    || survivesDrops && error.code == .queryPlanKilled
            },
            unlimited: unlimited, onRetry: { events(.retrying(reason: "\($0)", attempt: $1)) },
            whenStopped: { error in
                guard (error as? MongoError)?.isWriteConcern != true else {
                    return RunError(.unconfirmed, "stopped by a signal: \(WaitReason(error)); run it again")
                }
                let isShed = (error as? MongoError)?.isOverload == true
                let cause = isShed ? "the server shed load" : "the deployment could not be reached"
                return RunError(.stopped, "stopped by a signal while \(cause): \(error); run it again")
            })
    }

    /// The retry policy for the work before a run.
    ///
    /// If no server can be selected, this policy does not retry, so that the user soon sees that the deployment cannot
    /// be reached.
    package var early: RetryPolicy { refusing { ($0 as? MongoError)?.isServerSelection == true } }
}
