import JobState
package import Running

/// How fast a run was, and when it waited.
///
/// It holds so many stretches of equal length at most: a run that takes longer has longer ones.
package struct RunTimeline: Sendable {
    /// The most stretches that are kept.
    private static let most = 240
    /// The most waits that are kept.
    private static let mostWaits = 200

    /// The seconds of a stretch.
    package private(set) var stretch = 0.5
    /// The documents of each stretch, the first one first.
    package private(set) var documents: [Int] = []
    /// When the run waited, in seconds from its beginning, and for what.
    package private(set) var waits: [Wait] = []
    /// When it began to wait, and for what; `nil` while it works.
    private var open: (from: Double, reason: String)?

    /// A time of waiting.
    package struct Wait: Sendable, Hashable {
        package var from: Double
        package var to: Double
        package var reason: String
    }

    /// Starts with nothing done.
    package init() {}

    /// Takes in what a runner says.
    /// - Parameter seconds: how long the run has lasted.
    package mutating func add(_ event: RunEvent, at seconds: Double) {
        switch event {
        case .chunk(let documents, _):
            advance(to: seconds)
            self.documents[Int(seconds / stretch)] += documents
        case .waiting(let holds):
            end(at: seconds)
            open = (seconds, holds.map(\.description).joined(separator: "; "))
        case .goingOn: end(at: seconds)
        default: break
        }
    }

    /// Ends the run.
    package mutating func finish(at seconds: Double) {
        end(at: seconds)
        advance(to: seconds)
    }

    private mutating func end(at seconds: Double) {
        guard let (from, reason) = open else { return }
        open = nil
        advance(to: seconds)
        if waits.count < Self.mostWaits {
            waits.append(Wait(from: from, to: seconds, reason: reason))
        } else {
            waits[waits.count - 1].to = seconds
        }
    }

    /// Makes room for a moment, in longer stretches where there are too many.
    private mutating func advance(to seconds: Double) {
        while Int(seconds / stretch) >= Self.most {
            stretch *= 2
            documents = stride(from: 0, to: documents.count, by: 2).map { first in
                documents[first..<min(first + 2, documents.count)].reduce(0, +)
            }
        }
        let missing = Int(seconds / stretch) + 1 - documents.count
        if missing > 0 { documents += Array(repeating: 0, count: missing) }
    }
}
