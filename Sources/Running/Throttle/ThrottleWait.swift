package import JobState

/// How long one throttle reason made the run wait.
package struct ThrottleWait: Hashable, Sendable {
    /// The last hold for this reason, with its metric, value and limit.
    package var hold: Hold
    /// How long the run waited for this reason, in seconds; several reasons may apply at the same time.
    package var seconds: Double

    /// Creates a wait from a hold and a time.
    package init(hold: Hold, seconds: Double) {
        self.hold = hold
        self.seconds = seconds
    }
}
