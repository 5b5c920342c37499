package import BSON
import Jobs

/// The counts of the documents that one step of a job changes or skips.
package struct StepCount: Sendable {
    /// The step in one line of text.
    package var step: String
    /// The number of documents that need the step and that the step can change.
    package var needing: Int
    /// The documents that the step skips, by reason.
    package var skipped: [Skipped]

    /// The documents that a step skips for one reason.
    package struct Skipped: Sendable {
        /// The reason, as a stable name.
        package var reason: String
        /// Whether the operator has to act on documents that are skipped for this reason.
        package var isTrouble: Bool
        package var count: Int
        /// The `_id`s of a few of the skipped documents.
        package var samples: [BSONValue]
    }
}

extension StepCount.Skipped {
    init(_ reason: CompiledStep.Reason, count: Int = 0, samples: [BSONValue] = []) {
        self.init(reason: reason.rawValue, isTrouble: reason.isTrouble, count: count, samples: samples)
    }
}

extension StepCount {
    /// Returns the sum of two counts of the same step, for different documents.
    func adding(_ other: Self) -> Self {
        var sum = self
        sum.needing += other.needing
        for left in other.skipped {
            if let index = sum.skipped.firstIndex(where: { $0.reason == left.reason }) {
                sum.skipped[index].count += left.count
                let room = max(0, Survey.samples - sum.skipped[index].samples.count)
                sum.skipped[index].samples += left.samples.prefix(room)
            } else {
                sum.skipped.append(left)
            }
        }
        return sum
    }

    /// Counts a document that the step skips.
    mutating func add(_ reason: CompiledStep.Reason, _ id: BSONValue) {
        let known = skipped.firstIndex { $0.reason == reason.rawValue }
        if known == nil { skipped.append(Skipped(reason)) }
        let index = known ?? skipped.count - 1
        skipped[index].count += 1
        if skipped[index].samples.count < Survey.samples { skipped[index].samples.append(id) }
    }
}
