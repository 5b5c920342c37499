internal import Glibc
import SwiftOverlayShims
internal import Synchronization

/// Functions for detached threads of the operating system.
package enum PosixThread {
    /// The stack size in bytes of the threads that `start` starts.
    ///
    /// The stack is large because the checker recurses for each level of a document.
    private static let stackSize = 8 << 20

    /// Starts a thread that runs `body` and then ends.
    ///
    /// If the system cannot start another thread, the process ends. If a function was set with ``onExhaustion(_:)``,
    /// that function ends the process.
    /// - Parameter name: the name that debuggers and `ps -L` show, cut to 15 bytes.
    package static func start(name: String, _ body: @Sendable @escaping () -> Void) {
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
        let status = unsafe create(start.toOpaque())
        guard status == 0 else {
            if let end = exhaustion.withLock({ $0 }) { end(status) }
            preconditionFailure("pthread_create failed with \(status)")
        }
    }

    private static func create(_ context: UnsafeMutableRawPointer) -> Int32 {
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, stackSize)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        return unsafe pthread_create(&thread, &attributes, { unsafe run($0) }, context)
    }

    private static let exhaustion = Mutex<(@Sendable (Int32) -> Never)?>(nil)

    /// Sets the function that ends the process if the system cannot start another thread.
    /// - Parameter end: called with the number of the system's error.
    package static func onExhaustion(_ end: @escaping @Sendable (_ error: Int32) -> Never) {
        exhaustion.withLock { $0 = end }
    }

    /// Tests whether the system can run `count` more threads at the same time; all these threads end before the
    /// function returns.
    /// - Returns: the number of the system's error if the system cannot start the threads; otherwise 0.
    package static func failureOfStarting(_ count: Int) -> Int32 {
        let (end, ended) = (Semaphore(), Semaphore())
        var started = 0
        var failure: Int32 = 0
        while started < count, failure == 0 {
            let start = unsafe Unmanaged.passRetained(
                Start(name: "probe") {
                    end.wait()
                    ended.signal()
                })
            unsafe failure = create(start.toOpaque())
            if failure == 0 { started += 1 } else { unsafe start.release() }
        }
        for _ in 0..<started { end.signal() }
        for _ in 0..<started { ended.wait() }
        return failure
    }

    /// Blocks the calling thread for a duration.
    package static func sleep(_ duration: Duration) {
        let milliseconds = Int(max(0, duration.milliseconds))
        var request = timespec(tv_sec: milliseconds / 1_000, tv_nsec: milliseconds % 1_000 * 1_000_000)
        var left = timespec()
        while unsafe nanosleep(&request, &left) != 0, errno == EINTR { request = left }
    }

    /// Blocks the calling thread for a duration; returns within a tenth of a second after `isStopped` becomes true.
    package static func sleep(_ duration: Duration, unless isStopped: () -> Bool) {
        let end = ContinuousClock.now + duration
        while !isStopped(), case let rest = ContinuousClock.now.duration(to: end), rest > .zero {
            // `sleep` counts whole milliseconds, and would not block for less than one.
            sleep(min(max(rest, .milliseconds(1)), .milliseconds(100)))
        }
    }
}

private final class Start {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @Sendable @escaping () -> Void) {
        self.name = name
        self.body = body
    }
}

private func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context = unsafe context else { return nil }
    let start = unsafe Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
    name(start.name)
    start.body()
    return nil
}

/// Names the calling thread by a write to a file in `/proc`, because Swift cannot call `pthread_setname_np` or `prctl`.
private func name(_ name: String) {
    let file = unsafe open("/proc/thread-self/comm", O_WRONLY)
    guard file >= 0 else { return }
    _ = unsafe write(file, name, name.utf8.count)
    close(file)
}

/// Runs `body`, which may block, on its own thread; waits for it without blocking the caller's thread.
///
/// The thread has a stack of 8 MiB. Cancelling the calling task does not end the thread, so a blocking call needs a
/// timeout.
/// - Parameter name: the name that debuggers and `ps -L` show, cut to 15 bytes.
/// - Throws: the error of `body`.
package func onOwnedThread<R: Sendable, E: Error>(
    name: String, _ body: @Sendable @escaping () throws(E) -> R
) async throws(E) -> R {
    let result: Result<R, E> = await withCheckedContinuation { continuation in
        PosixThread.start(name: name) {
            do throws(E) {
                continuation.resume(returning: .success(try body()))
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
    }
    return try result.get()
}
