package import BSON

/// The numbers of one step.
package struct StepCount: Sendable {
    /// The step in a line.
    package var step: String
    /// Documents that still lack the step, and that it can change.
    package var needing: Int
    /// Documents that it leaves alone, per reason.
    package var leftAlone: [LeftAlone]

    /// The documents that a step leaves alone for one reason.
    package struct LeftAlone: Sendable {
        /// Why.
        package var reason: String
        /// Whether the operator has to see to them.
        package var isTrouble: Bool
        /// How many.
        package var count: Int
        /// The `_id`s of a few.
        package var samples: [BSONValue]
    }
}
