internal import Glibc
import SwiftOverlayShims

/// A detached thread of the system.
package enum PosixThread {
    /// What a thread of ours has: the checker recurses by the depth of documents.
    private static let stackSize = 8 << 20

    /// Starts a thread that runs `body` and ends.
    /// - Parameter name: what debuggers and `ps -L` show, cut to 15 bytes.
    /// - Precondition: the system can start one more.
    package static func start(name: String, _ body: @Sendable @escaping () -> Void) {
        let start = unsafe Unmanaged.passRetained(Start(name: name, body: body))
        var thread = pthread_t()
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        unsafe pthread_attr_setstacksize(&attributes, stackSize)
        unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let status = unsafe pthread_create(&thread, &attributes, { unsafe run($0) }, start.toOpaque())
        unsafe pthread_attr_destroy(&attributes)
        precondition(status == 0, "pthread_create failed with \(status)")
    }

    /// Blocks the thread that calls.
    package static func sleep(_ duration: Duration) {
        let milliseconds = Int(max(0, duration.milliseconds))
        var request = timespec(tv_sec: milliseconds / 1_000, tv_nsec: milliseconds % 1_000 * 1_000_000)
        var left = timespec()
        while unsafe nanosleep(&request, &left) != 0, errno == EINTR { request = left }
    }

    /// Blocks the thread that calls, and ends a tenth of a second after it is told to.
    package static func sleep(_ duration: Duration, unless isStopped: () -> Bool) {
        let end = ContinuousClock.now + duration
        while !isStopped(), case let rest = ContinuousClock.now.duration(to: end), rest > .zero {
            // A rest of less than a millisecond is not slept at all.
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

/// Names the thread that calls: `pthread_setname_np` is hidden from Swift, and `prctl` is variadic.
private func name(_ name: String) {
    let file = unsafe open("/proc/thread-self/comm", O_WRONLY)
    guard file >= 0 else { return }
    _ = unsafe write(file, name, name.utf8.count)
    close(file)
}
