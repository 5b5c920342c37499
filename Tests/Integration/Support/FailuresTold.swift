import BSON
import Checking
import Scanning
import Synchronization

/// The single documents that a scan reports, collected as a reader of the failures file would.
final class FailuresTold: Sendable {
    private struct State {
        var failures: [IDBytes: [Violation]] = [:]
        var retractionCount = 0
    }

    private let state = Mutex(State())

    /// The failing documents that have not been retracted since, with their violations.
    var holding: [IDBytes: [Violation]] { state.withLock(\.failures) }

    var retractionCount: Int { state.withLock(\.retractionCount) }

    /// Returns the options of a scan with listeners that collect its reports.
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
