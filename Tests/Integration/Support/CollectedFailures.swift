import BSON
import Checking
import Scanning
import Synchronization

/// A collector of the failing documents that a scan reports, like a reader of the `--failures` file.
final class CollectedFailures: Sendable {
    private struct State {
        var failures: [IDBytes: [Violation]] = [:]
        var retractionCount = 0
    }

    private let state = Mutex(State())

    /// The reported documents with their violations, except the documents whose report the scan has retracted since.
    var failures: [IDBytes: [Violation]] { state.withLock(\.failures) }

    var retractionCount: Int { state.withLock(\.retractionCount) }

    /// Returns the options of a scan, with listeners that collect what the scan reports.
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
