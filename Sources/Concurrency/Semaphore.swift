internal import Glibc
import SwiftOverlayShims

/// A counting semaphore of the operating system: a `sem_t` in C.
@safe
package final class Semaphore {
    private let handle: UnsafeMutablePointer<sem_t>

    package init() {
        unsafe handle = .allocate(capacity: 1)
        unsafe sem_init(handle, 0, 0)
    }

    deinit {
        unsafe sem_destroy(handle)
        unsafe handle.deallocate()
    }

    /// Increases the count by 1, and wakes one waiting thread.
    package func signal() { unsafe sem_post(handle) }

    /// Decreases the count by 1; blocks while the count is 0.
    package func wait() {
        while unsafe sem_wait(handle) != 0 {}  // EINTR: a signal interrupted the wait
    }

    /// Decreases the count by 1; returns `false` if the count is still 0 after `milliseconds`.
    package func wait(milliseconds: Int) -> Bool {
        var end = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &end)
        let nanoseconds = end.tv_nsec + milliseconds % 1_000 * 1_000_000
        end.tv_sec += milliseconds / 1_000 + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        while unsafe sem_timedwait(handle, &end) != 0 {
            if errno != EINTR { return false }
        }
        return true
    }
}

// `@unchecked` is safe, because any thread may call `sem_post` and `sem_wait`, and `handle` never changes.
extension Semaphore: @unchecked Sendable {}
