import Foundation
import Glibc

/// The clock of a process that does not go by the machine's: Debian's libfaketime keeps it.
package final class FakeClock: Sendable {
    /// Where the library lies; `nil` where it is not installed.
    package static let library: String? = {
        let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib"]
        return folders.map { "\($0)/faketime/libfaketimeMT.so.1" }.first(where: FileManager.default.fileExists)
    }()

    /// The name of the lock and the memory that the library's processes share.
    ///
    /// It makes this itself where it is missing, but by the process's number and without ever taking it away: a later
    /// process of that number then ends with 1 before it has begun. And it moves the environment to name it there,
    /// beside which Swift finds the arguments.
    private let shared = "/shipshape-\(UUID().uuidString)"

    /// Makes a clock.
    package init() throws {
        let isLock = unsafe sem_open(shared, O_CREAT | O_EXCL, 0o600, 1) != nil
        let memory = unsafe shm_open(shared, O_CREAT | O_EXCL | O_RDWR, 0o600)
        guard isLock, ftruncate(memory, 4096) == 0 else {
            throw TestSupportError("no room for a clock: errno \(errno)")
        }
        close(memory)
    }

    /// Makes a clock that lasts as long as `body`.
    package static func lend(_ body: (FakeClock) async throws -> Void) async throws {
        let clock = try FakeClock()
        try await body(clock)
        withExtendedLifetime(clock) {}
    }

    deinit {
        unsafe sem_unlink(shared)
        unsafe shm_unlink(shared)
    }

    /// The variables with which it is so much later, such as `-5h`; what measures how long something takes is as ever.
    package func variables(_ offset: String) -> [String: String] {
        [
            "LD_PRELOAD": Self.library ?? "", "FAKETIME": offset.hasPrefix("-") ? offset : "+\(offset)",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_SHARED": "\(shared) \(shared)",
        ]
    }
}
