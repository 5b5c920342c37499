internal import BSON
internal import Concurrency
internal import Files
internal import Foundation
internal import JobReports
import JobState
internal import Reporting
internal import Running
internal import Synchronization

/// Reports on a run to the operator's other programs, by a metrics file and by hooks.
final class RunMonitor: Sendable {
    private struct State {
        var metrics: RunMetrics
        /// The first line of the run's result, which is passed to the hook at the end of the run.
        var headline: String?
        /// The reasons for waiting that were last reported to the hooks.
        var waiting: [ThrottleReason] = []
        var lastWrite = ContinuousClock.now
        var failure: OutputError?
    }

    /// The flags for the metrics file and the hooks; `nil` to report nothing.
    private let flags: MonitoringFlags?
    private let command, name: String
    private let throttles: Bool
    private let hooks: Hooks
    private let started = ContinuousClock.now
    private let state: Mutex<State>

    /// The time that must have passed since the last write of the metrics file before a finished chunk causes another
    /// write.
    private static let interval = Duration.seconds(5)

    /// Creates the monitor of a run.
    /// - Parameters:
    ///   - flags: the flags for the metrics file and the hooks; `nil` to report nothing.
    ///   - name: the name of the schema or of the job.
    ///   - throttles: whether the run has a throttle that can make it wait.
    init(_ flags: MonitoringFlags?, of command: String, _ name: String, throttles: Bool) {
        (self.flags, self.command, self.name, self.throttles) = (flags, command, name, throttles)
        hooks = Hooks(timeLimit: Settings.current[Known.hookTimeout])
        let earlier = flags?.metrics.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) }
        state = Mutex(
            State(metrics: RunMetrics(command: command, name: name, throttles: throttles, earlier: earlier)))
    }

    /// Runs `work`.
    ///
    /// Then writes its end and the exit code to the metrics file, and reports them to a hook.
    /// - Throws: errors of `work`; ``OutputError`` if the metrics cannot be written before the work or at its end.
    func following(_ work: () async throws -> Void) async throws {
        if let metrics = flags?.metrics {
            do { try AtomicFile.checkWritable(metrics) } catch { throw Self.failure(metrics, error) }
        }
        do { try await work() } catch {
            let status = ExitStatus.code(for: error)
            await end(status, because: error is ExitStatus ? nil : ConnectionStringMask.mask("\(error)"))
            // The exit code for findings would hide that the metrics were not written, so the write error decides the
            // exit code, as it does for a report file.
            if case ExitStatus.findings = error, let failure = state.withLock({ $0.failure }) { throw failure }
            throw error
        }
        await end(0, because: nil)
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    func begin() {
        notify(.start)
        if throttles { write(.running) }
    }

    /// Adds an event of a backfill to the metrics, and reports a wait to the hook.
    func take(_ event: RunEvent) {
        switch event {
        case .chunk(let documents, let modified):
            let isDue = state.withLock { state in
                state.metrics.add(documents: documents, changed: modified)
                return state.lastWrite.duration(to: .now) >= Self.interval
            }
            if isDue { write(.running) }
        case .waiting(let waitReasons):
            let reasons = waitReasons.map(\.reason)
            let isNew = state.withLock { state in
                state.metrics.waitReasons = waitReasons
                defer { state.waiting = reasons }
                return state.waiting != reasons
            }
            write(.running)
            if isNew { notify(.wait, waitReasons.map(\.description).joined(separator: "; "), waitReasons: waitReasons) }
        case .continuing:
            state.withLock { ($0.metrics.waitReasons, $0.waiting) = ([], []) }
            write(.running)
        default: break
        }
    }

    /// Stores the headline of the result, and calls `measure` to add the result to the metrics.
    func take(_ headline: String, _ measure: (inout RunMetrics) -> Void = { _ in }) {
        state.withLock { state in
            measure(&state.metrics)
            state.headline = headline
        }
    }

    private func end(_ code: Int32, because reason: String?) async {
        let message = reason ?? state.withLock { $0.headline }
        write(.ended(code))
        let event: HookEvent.Kind =
            switch code {
            case 0: .success
            case ExitStatus.findings.rawValue: .finding
            default: .stop
            }
        notify(event, message, code: code)
        await hooks.finish()
    }

    private func notify(
        _ event: HookEvent.Kind, _ message: String? = nil, code: Int32? = nil, waitReasons: [WaitReason] = []
    ) {
        guard let named = Hook(rawValue: event.rawValue), let hook = flags?.command(at: named) else { return }
        let notification = HookEvent(
            event, command: command, name: name, at: .now, message: message, code: code.map { Int($0) },
            waitReasons: waitReasons)
        hooks.run(hook, "--on \(event.rawValue)", input: notification.json, variables: notification.variables)
    }

    /// Writes the metrics file; an error, such as a full disk, may be temporary, and does not end the run.
    private func write(_ phase: RunMetrics.Phase) {
        guard let path = flags?.metrics else { return }
        let seconds = started.duration(to: .now).seconds
        state.withLock { state in
            state.lastWrite = .now
            do {
                try AtomicFile.write(state.metrics.text(phase, at: .now, after: seconds).utf8, to: path)
                state.failure = nil
            } catch {
                let failure = Self.failure(path, error)
                if state.failure == nil { Console.error("shipshape: warning: \(failure.description)") }
                state.failure = failure
            }
        }
    }

    private static func failure(_ path: String, _ reason: any Error) -> OutputError {
        OutputError(description: "cannot write the metrics \(path): \(reason)")
    }
}

/// Records the documents per second and the waits of a run, from the events of its threads.
final class TimelineKeeper: Sendable {
    private let timeline = Mutex(RunTimeline())
    private let begun = ContinuousClock.now

    private var seconds: Double { begun.duration(to: .now).seconds }

    /// Adds an event that a runner reported.
    func add(_ event: RunEvent) { timeline.withLock { $0.add(event, at: seconds) } }

    /// Returns the timeline of a run that ends now.
    func finished() -> RunTimeline {
        timeline.withLock { timeline in
            timeline.finish(at: seconds)
            return timeline
        }
    }
}
