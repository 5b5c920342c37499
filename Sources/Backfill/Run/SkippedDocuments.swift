import BSON
import JobState
import Jobs
import Mongo
import Running

/// Documents that cannot be written: each was found by itself, recorded, and is passed over.
struct SkippedDocuments {
    /// The most before the run stops.
    private let most: Int
    /// Those of this run.
    private(set) var failures: [BSONValue: Failure] = [:]
    /// Those of earlier runs, which this one tries again.
    private let earlier: Set<BSONValue>

    init(most: Int, earlier: Set<BSONValue> = []) { (self.most, self.earlier) = (most, earlier) }

    /// Whether this run passes over a document.
    func contains(_ id: BSONValue) -> Bool { failures[id] != nil }

    /// The reason to stop, where one more is too many; that one is not passed over: the next run meets it again.
    func refusal(of failure: Failure) -> RunStop? {
        let count = Set(failures.keys).union(earlier).count
        guard !contains(failure.id), !earlier.contains(failure.id), count >= most else { return nil }
        return .failures(count + 1, allowed: most)
    }

    /// Adds a document that was recorded.
    /// - Returns: whether it is new in this run.
    mutating func add(_ failure: Failure) -> Bool { failures.updateValue(failure, forKey: failure.id) == nil }

    /// Those of this run in slices that a command takes each.
    var slices: [[BSONValue]] { Array(failures.keys).commandSlices(count: 1_000) }
}
