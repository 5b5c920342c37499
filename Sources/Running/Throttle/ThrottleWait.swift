package import JobState

/// How long a brake made the run wait.
package struct ThrottleWait: Hashable, Sendable {
    /// The hold as it was reported last: metric, value, limit.
    package var hold: Hold
    /// How long it held, in seconds; two may have held at once.
    package var seconds: Double

    /// Joins the two.
    package init(hold: Hold, seconds: Double) {
        self.hold = hold
        self.seconds = seconds
    }
}
