import Glibc
import TestSupport

extension LiveProgram {
    /// Waits until a fault has stopped the program; returns `false` if the program ended before that.
    func waitForStop() async throws -> Bool {
        var isStopped = false
        try await waitUntil("the program is stopped or has ended") {
            if hasEnded { return true }
            isStopped = (try? self.isStopped) ?? false
            return isStopped
        }
        return isStopped
    }

    /// Runs `body` each time a fault has stopped the program, and lets the program continue afterwards.
    ///
    /// Returns when the program has ended.
    func atEachStop(_ body: () async throws -> Void) async throws {
        while try await waitForStop() {
            defer { send(SIGCONT) }
            try await body()
        }
    }
}
