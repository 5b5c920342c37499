import Glibc
import Mongo
import Synchronization

/// Bridges passing failures, such as an election: tries an idempotent operation again, ever more slowly.
struct Patience {
    /// How long after the first failure it still tries.
    let limit: Duration
    let stop: StopSignal
    let events: @Sendable (RunEvent) -> Void
    /// Takes the time of what failed, and of the pauses after it.
    let lost: LostTime

    /// Runs `operation` until it succeeds, fails for good, or the time is over.
    ///
    /// Only what may be repeated belongs here: an operation that failed may have been done.
    func bridging<R>(_ operation: () throws -> R) throws -> R {
        var firstFailure: ContinuousClock.Instant?
        var attempt = 0
        while true {
            let started = ContinuousClock.now
            do {
                return try operation()
            } catch let error as MongoError
                where error.isTransient || error.isWriteConcern || error.code == .cursorNotFound
            {
                let start = firstFailure ?? .now
                firstFailure = start
                attempt += 1
                let pause = min(Duration.milliseconds(100) * (1 << min(attempt, 6)), .seconds(5))
                guard !stop.isRaised else {
                    throw BackfillError(
                        .stopped,
                        "stopped by a signal while the deployment could not be reached: \(error); run it again")
                }
                guard start.duration(to: .now) + pause < limit else { throw error }
                events(.retrying(reason: error.description, attempt: attempt))
                Thread.sleep(pause)
                lost.add(started.duration(to: .now))
            }
        }
    }
}

/// The time that a run lost to failures that passed.
final class LostTime: Sendable {
    private let milliseconds = Atomic<Int64>(0)

    /// All of it, up to now.
    var total: Duration { .milliseconds(milliseconds.load(ordering: .relaxed)) }

    func add(_ duration: Duration) { milliseconds.add(duration.milliseconds, ordering: .relaxed) }
}

/// Sleeping on a thread of our own.
enum Thread {
    static func sleep(_ duration: Duration) {
        let milliseconds = max(0, duration.milliseconds)
        var request = timespec(tv_sec: Int(milliseconds / 1_000), tv_nsec: Int(milliseconds % 1_000) * 1_000_000)
        var left = timespec()
        while unsafe nanosleep(&request, &left) != 0, errno == EINTR { request = left }
    }
}
