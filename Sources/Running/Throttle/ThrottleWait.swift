package import JobState

/// How long one throttle reason made the run wait.
package struct ThrottleWait: Hashable, Sendable {
    /// The hold as it was last reported: metric, value, limit.
    package var hold: Hold
    /// How long it held, in seconds; several reasons may hold at the same time.
    package var seconds: Double

    /// Joins the two.
    package init(hold: Hold, seconds: Double) {
        self.hold = hold
        self.seconds = seconds
    }
}
