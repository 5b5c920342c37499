internal import Glibc
internal import Synchronization

/// A thread of our own that an actor can run on, so that its blocking calls keep the cooperative pool free.
///
/// An actor holds one in a property and gives it as its `unownedExecutor`. The thread has a stack of 8 MiB, and ends
/// when the last reference goes and its work is done.
package final class OwnedThread: SerialExecutor {
    private let queue = JobQueue()

    /// Starts a thread.
    /// - Parameter name: what debuggers and `ps -L` show, cut to 15 bytes.
    package init(name: String) {
        PosixThread.start(name: name) { [queue] in queue.run() }
    }

    deinit { queue.close() }

    /// Runs a job after those that wait already.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = unsafe asUnownedSerialExecutor()
        queue.append { unsafe job.runSynchronously(on: executor) }
    }

    /// The executor as actors take it.
    package func asUnownedSerialExecutor() -> UnownedSerialExecutor { unsafe UnownedSerialExecutor(ordinary: self) }

    /// Traps on any other thread.
    package func checkIsolated() { precondition(queue.isCurrent, "not on the owned thread") }
}

/// What waits for an owned thread.
private final class JobQueue: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let thread = Atomic<UInt>(0)
    private let arrivals = Semaphore()

    /// Whether the caller runs on the thread of this queue.
    var isCurrent: Bool { thread.load(ordering: .acquiring) == UInt(pthread_self()) }

    func append(_ job: @Sendable @escaping () -> Void) {
        state.withLock { $0.jobs.append(job) }
        arrivals.signal()
    }

    func close() {
        state.withLock { $0.isClosed = true }
        arrivals.signal()
    }

    /// Runs jobs in their order until the queue is closed and empty.
    func run() {
        thread.store(UInt(pthread_self()), ordering: .releasing)
        while true {
            arrivals.wait()
            let jobs = state.withLock { state in
                defer { state.jobs = [] }
                return state.jobs
            }
            for job in jobs { job() }
            if state.withLock({ $0.isClosed && $0.jobs.isEmpty }) { return }
        }
    }
}
