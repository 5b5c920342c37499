import Concurrency
import Synchronization

/// Reports progress for one thread of a scan, keeps the rate limit, and notices a stop.
struct ScanPacer {
    private let options: ScanOptions
    private let queue: RangeQueue?
    /// The number of documents between two reports of progress.
    private let step: Int
    private var count = 0

    init(_ options: ScanOptions, _ queue: RangeQueue? = nil) {
        (self.options, self.queue) = (options, queue)
        step = options.rate.map { max(1, min(1_000, $0.perSecond / options.threads / 10)) } ?? 1_000
    }

    /// Counts a document, and waits if the rate limit requires it.
    /// - Returns: Whether the thread should continue.
    mutating func mayContinue() -> Bool {
        count += 1
        guard count == step else { return true }
        finish()
        options.rate?.take(step, isStopped: options.isStopped)
        return !options.isStopped()
    }

    /// Reports the documents that were not reported yet.
    mutating func finish() {
        if count > 0 { options.listeners.progress(count) }
        queue?.read.add(count, ordering: .relaxed)
        count = 0
    }
}

/// A limit on the number of documents per second that all threads of a scan together read.
package final class RateLimit: Sendable {
    /// The number of documents that all threads of a scan together may read per second.
    package let perSecond: Int
    /// The time at which the next document may be read; `nil` before the first document.
    private let paidUntil = Mutex<ContinuousClock.Instant?>(nil)

    /// Creates a limit on the documents that all threads of a scan together read per second.
    /// - Precondition: `perSecond` is at least 1.
    package init(perSecond: Int) {
        precondition(perSecond >= 1, "a rate of nothing would never end")
        self.perSecond = perSecond
    }

    /// Waits until `count` more documents may be read; a stop ends the wait within a tenth of a second.
    package func take(_ count: Int, isStopped: () -> Bool) {
        let cost = Duration.seconds(1) * count / perSecond
        let until = paidUntil.withLock { paid in
            // Unused time is not saved up: after a pause, the rate is not higher than before.
            let next = max(paid ?? .now, .now).advanced(by: cost)
            paid = next
            return next
        }
        PosixThread.sleep(ContinuousClock.now.duration(to: until), unless: isStopped)
    }
}
