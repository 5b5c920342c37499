import JobState
package import Running

/// The number of documents that a run processed over time, and the periods in which the run waited.
///
/// Time is divided into stretches of equal length. The number of stretches is limited, so a longer run has longer
/// stretches.
package struct RunTimeline: Sendable {
    /// The largest number of stretches into which the time of a run is divided.
    private static let maximum = 240
    /// The largest number of waits that are stored; each further wait only moves the end of the last stored wait.
    private static let maximumWaits = 200

    /// The length of a stretch, in seconds.
    package private(set) var stretch = 0.5
    /// The number of documents processed in each stretch, in order.
    package private(set) var documents: [Int] = []
    package private(set) var waits: [Wait] = []
    /// When the current wait began, in seconds from the run's start, and its reason; `nil` while the run does not wait.
    private var open: (from: Double, reason: String)?

    /// A period in which the run waited.
    package struct Wait: Sendable, Hashable {
        /// The start of the wait, in seconds from the start of the run.
        package var from: Double
        /// The end of the wait, in seconds from the start of the run.
        package var to: Double
        /// The throttle reasons for which the run waited, as text.
        package var reason: String
    }

    package init() {}

    /// Adds an event that a runner reported.
    /// - Parameter seconds: the time since the start of the run.
    package mutating func add(_ event: RunEvent, at seconds: Double) {
        switch event {
        case .chunk(let documents, _):
            advance(to: seconds)
            self.documents[Int(seconds / stretch)] += documents
        case .waiting(let waitReasons):
            end(at: seconds)
            open = (seconds, waitReasons.map(\.description).joined(separator: "; "))
        case .continuing: end(at: seconds)
        default: break
        }
    }

    /// Ends the timeline, and the current wait if the run is waiting.
    package mutating func finish(at seconds: Double) {
        end(at: seconds)
        advance(to: seconds)
    }

    private mutating func end(at seconds: Double) {
        guard let (from, reason) = open else { return }
        open = nil
        advance(to: seconds)
        if waits.count < Self.maximumWaits {
            waits.append(Wait(from: from, to: seconds, reason: reason))
        } else {
            waits[waits.count - 1].to = seconds
        }
    }

    /// Adds empty stretches up to the given time.
    ///
    /// If there would be too many stretches, every two neighbouring stretches are first merged into one. The length of
    /// all stretches then doubles.
    private mutating func advance(to seconds: Double) {
        while Int(seconds / stretch) >= Self.maximum {
            stretch *= 2
            documents = stride(from: 0, to: documents.count, by: 2).map { first in
                documents[first..<min(first + 2, documents.count)].reduce(0, +)
            }
        }
        let missing = Int(seconds / stretch) + 1 - documents.count
        if missing > 0 { documents += Array(repeating: 0, count: missing) }
    }
}
