package import JobState

/// How long one throttle reason made the run wait.
package struct ThrottleWait: Hashable, Sendable {
    /// The last hold for this reason, with its metric, value and limit.
    package var waitReason: WaitReason
    /// How long the run waited for this reason, in seconds; several reasons may apply at the same time.
    package var seconds: Double

    /// Creates a wait from a hold and a time.
    package init(waitReason: WaitReason, seconds: Double) {
        self.waitReason = waitReason
        self.seconds = seconds
    }
}
