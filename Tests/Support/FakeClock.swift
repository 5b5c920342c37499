import Foundation
import Glibc

/// A clock that shows processes another time than the machine's clock, made with Debian's libfaketime.
package final class FakeClock: Sendable {
    /// The path of the library; `nil` if it is not installed.
    package static let library: String? = {
        let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib"]
        return folders.map { "\($0)/faketime/libfaketimeMT.so.1" }.first(where: FileManager.default.fileExists)
    }()

    /// The name of the lock and of the memory that all processes with this clock share.
    ///
    /// Without this name, the library makes a lock and memory that are named after the process ID, and never removes
    /// them. A later process with the same ID then exits with 1 at its start. The library would also move the process's
    /// environment, and Swift, which looks for the arguments next to the environment, would not find them.
    private let shared = "/shipshape-\(UUID().uuidString)"

    /// Makes a clock with a semaphore and shared memory, which are removed with the clock.
    package init() throws {
        let isLock = unsafe sem_open(shared, O_CREAT | O_EXCL, 0o600, 1) != nil
        let memory = unsafe shm_open(shared, O_CREAT | O_EXCL | O_RDWR, 0o600)
        guard isLock, ftruncate(memory, 4096) == 0 else {
            throw TestSupportError("no room for a clock: errno \(errno)")
        }
        close(memory)
    }

    /// Makes a clock for `body`, and removes it afterwards.
    package static func lend(_ body: (FakeClock) async throws -> Void) async throws {
        let clock = try FakeClock()
        try await body(clock)
        withExtendedLifetime(clock) {}
    }

    deinit {
        unsafe sem_unlink(shared)
        unsafe shm_unlink(shared)
    }

    /// Returns the environment variables that change the clock of a process by an offset such as `4s` or `-5h`.
    ///
    /// The monotonic clock does not change.
    package func variables(_ offset: String) -> [String: String] {
        [
            "LD_PRELOAD": Self.library ?? "", "FAKETIME": offset.hasPrefix("-") ? offset : "+\(offset)",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_SHARED": "\(shared) \(shared)",
        ]
    }
}
