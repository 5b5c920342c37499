internal import BSON
internal import Backfill
internal import Checking
internal import Concurrency
internal import Foundation
import JobState
internal import Reporting
internal import Running
internal import Synchronization

/// Tells the operator's other programs how a run fares: by a file of metrics, and by hooks.
final class RunMonitor: Sendable {
    private struct State {
        var metrics: RunMetrics
        /// What is to be said of the end.
        var headline: String?
        /// What the run waits for, as hooks were told.
        var waiting: [ThrottleReason] = []
        var lastWrite = ContinuousClock.now
        var failure: OutputError?
    }

    /// `nil` where nobody is told.
    private let flags: MonitoringFlags?
    private let command, name: String
    private let throttles: Bool
    private let hooks: Hooks
    private let started = ContinuousClock.now
    private let state: Mutex<State>

    /// How often the file is written while the run goes on.
    private static let interval = Duration.seconds(5)

    /// - Parameters:
    ///   - flags: who is told; `nil` tells nobody.
    ///   - name: the schema, or the job.
    ///   - throttles: whether there is something that may make the run wait.
    init(_ flags: MonitoringFlags?, of command: String, _ name: String, throttles: Bool) {
        (self.flags, self.command, self.name, self.throttles) = (flags, command, name, throttles)
        hooks = Hooks(timeLimit: flags?.hookTimeout.duration ?? .zero)
        let earlier = flags?.metrics.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) }
        state = Mutex(
            State(metrics: RunMetrics(command: command, name: name, throttles: throttles, earlier: earlier)))
    }

    /// Does the work, and tells how it ends.
    /// - Throws: what `work` throws; ``OutputError`` when the metrics of the end cannot be written.
    func following(_ work: () async throws -> Void) async throws {
        if let metrics = flags?.metrics {
            do { try AtomicFile.probe(metrics) } catch { throw Self.failure(metrics, error) }
        }
        do { try await work() } catch {
            let status = ExitStatus.code(for: error)
            await end(status, because: error is ExitStatus ? nil : ConnectionStringMask.mask("\(error)"))
            // As with a report that cannot be written: whoever reads the code alone is to look.
            if case ExitStatus.findings = error, let failure = state.withLock({ $0.failure }) { throw failure }
            throw error
        }
        await end(0, because: nil)
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// The work begins.
    func begin() {
        tell(.start)
        if throttles { write(.running) }
    }

    /// What a backfill says while it works.
    func take(_ event: RunEvent) {
        switch event {
        case .chunk(let documents, let modified):
            let isDue = state.withLock { state in
                state.metrics.add(documents: documents, changed: modified)
                return state.lastWrite.duration(to: .now) >= Self.interval
            }
            if isDue { write(.running) }
        case .waiting(let holds):
            let reasons = holds.map(\.reason)
            let isNew = state.withLock { state in
                state.metrics.holds = holds
                defer { state.waiting = reasons }
                return state.waiting != reasons
            }
            write(.running)
            if isNew { tell(.wait, holds.map(\.description).joined(separator: "; "), holds: holds) }
        case .goingOn:
            state.withLock { ($0.metrics.holds, $0.waiting) = ([], []) }
            write(.running)
        default: break
        }
    }

    /// What the run came to, in a line, and what the metrics take in of it.
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
        tell(event, message, code: code)
        await hooks.finish()
    }

    private func tell(_ event: HookEvent.Kind, _ message: String? = nil, code: Int32? = nil, holds: [Hold] = []) {
        guard let hook = flags?.hook(for: event) else { return }
        let told = HookEvent(
            event, command: command, name: name, at: .now, message: message, code: code.map { Int($0) }, holds: holds)
        hooks.run(hook, "--on-\(event.rawValue)", input: told.json, variables: told.variables)
    }

    /// A disk that is full for a while does not end the run.
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
