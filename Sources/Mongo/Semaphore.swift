internal import Glibc

/// A counting semaphore of the system; the corresponding C type is `sem_t`.
@safe
package final class Semaphore {
    private let handle: UnsafeMutablePointer<sem_t>

    /// Starts at 0.
    package init() {
        unsafe handle = .allocate(capacity: 1)
        unsafe sem_init(handle, 0, 0)
    }

    deinit {
        unsafe sem_destroy(handle)
        unsafe handle.deallocate()
    }

    /// Counts up, and wakes one that waits.
    package func signal() { unsafe sem_post(handle) }

    /// Counts down; blocks while there is nothing to count.
    package func wait() {
        while unsafe sem_wait(handle) != 0 {}  // EINTR: a signal came
    }
}

// @unchecked: sem_post and sem_wait are made for many threads, and `handle` never changes.
extension Semaphore: @unchecked Sendable {}
