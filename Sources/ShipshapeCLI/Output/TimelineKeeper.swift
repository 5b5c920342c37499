internal import Backfill
internal import Concurrency
internal import Running
internal import Synchronization

/// Keeps how fast a run is and when it waits, by what its threads tell.
final class TimelineKeeper: Sendable {
    private let timeline = Mutex(RunTimeline())
    private let begun = ContinuousClock.now

    private var seconds: Double { begun.duration(to: .now).seconds }

    /// Takes in what a runner says.
    func add(_ event: RunEvent) { timeline.withLock { $0.add(event, at: seconds) } }

    /// The timeline of a run that ends now.
    func finished() -> RunTimeline {
        timeline.withLock { timeline in
            timeline.finish(at: seconds)
            return timeline
        }
    }
}
