import Concurrency
import Synchronization

/// The regular duties of a scan's thread: it reports its progress, keeps to the rate limit, and asks whether to stop.
struct Pace {
    private let options: ScanOptions
    private let queue: RangeQueue?
    /// The number of documents between two reports.
    private let step: Int
    private var count = 0

    init(_ options: ScanOptions, _ queue: RangeQueue? = nil) {
        (self.options, self.queue) = (options, queue)
        step = options.rate.map { max(1, min(1_000, $0.perSecond / options.threads / 10)) } ?? 1_000
    }

    /// Counts a document.
    /// - Returns: Whether to continue.
    mutating func goesOn() -> Bool {
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

/// A number of documents per second that all threads of a scan share.
package final class RateLimit: Sendable {
    /// The number of documents per second.
    package let perSecond: Int
    /// The time until which the documents taken so far use up the rate.
    private let paidUntil = Mutex<ContinuousClock.Instant?>(nil)

    /// Creates a limit.
    /// - Precondition: The number is at least 1.
    package init(perSecond: Int) {
        precondition(perSecond >= 1, "a rate of nothing would never end")
        self.perSecond = perSecond
    }

    /// Waits until that many documents may be read; a stop ends the wait within a tenth of a second.
    func take(_ count: Int, isStopped: () -> Bool) {
        let cost = Duration.seconds(1) * count / perSecond
        let until = paidUntil.withLock { paid in
            // Unused time is not saved up.
            let next = max(paid ?? .now, .now).advanced(by: cost)
            paid = next
            return next
        }
        PosixThread.sleep(ContinuousClock.now.duration(to: until), unless: isStopped)
    }
}
