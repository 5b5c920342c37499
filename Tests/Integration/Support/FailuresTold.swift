import BSON
import Checking
import Scanning
import Synchronization

/// What a scan tells of single documents, as a reader of the failures file takes it.
final class FailuresTold: Sendable {
    private struct State {
        var failures: [IDBytes: [Violation]] = [:]
        var retractionCount = 0
    }

    private let state = Mutex(State())

    /// The failing documents of which nothing was retracted since, and what is wrong with them.
    var holding: [IDBytes: [Violation]] { state.withLock(\.failures) }

    var retractionCount: Int { state.withLock(\.retractionCount) }

    /// Options of a scan that tells it.
    func listening(_ options: ScanOptions) -> ScanOptions {
        var options = options
        options.listeners.onFailure = { document in
            self.state.withLock { $0.failures[IDBytes(document.id)] = document.violations }
        }
        options.listeners.onRetraction = { _, id in
            self.state.withLock { state in
                state.failures[IDBytes(id)] = nil
                state.retractionCount += 1
            }
        }
        return options
    }
}
