internal import BSON
internal import Files
internal import Logging
internal import Reporting
internal import Synchronization
internal import Watching

/// Shows the events of a watch to the operator, and reports them to a file of metrics and to a shell command.
final class WatchShowing: Sendable {
    private struct State {
        var failure: OutputError?
        var said: Int?
    }

    private let metrics: String?
    private let hook: String?
    private let hooks = Hooks(timeLimit: .seconds(300))
    /// The verb for documents that do not fail: "sync" or, without Device Sync, "fit".
    private let verb: String
    private let isQuiet: Bool
    private let state = Mutex(State())

    init(metrics: String?, hook: String?, verb: String, isQuiet: Bool) {
        (self.metrics, self.hook, self.verb, self.isQuiet) = (metrics, hook, verb, isQuiet)
    }

    /// The error with which the last write of the metrics file failed; `nil` if it succeeded.
    var failure: OutputError? { state.withLock { $0.failure } }

    func show(_ event: WatchEvent) {
        switch event {
        case .counted(let counts): write(counts)
        case .warning(let counts): warn(counts)
        case .run(let event):
            guard let (line, level) = event.message, level >= .notice else { return }
            say(line, level: level)
        case _ where isQuiet: break
        case .reading(let namespace, let reason): say("reading all of \(namespace): \(reason)")
        case .wasRead(let namespace, let documents, let failing):
            say("\(namespace): \(documents.documents) read, \(failing.grouped) do not \(verb)")
        case .resumed(let namespace): say("following \(namespace) from where the last run stopped")
        case .caughtUp: say("caught up")
        }
    }

    /// Waits until all hooks have ended.
    func finish() async { await hooks.finish() }

    private func say(_ line: String, level: Logger.Level = .info) {
        Log.logger(of: "watch").log(level: level, "\(line)")
    }

    private func write(_ counts: WatchCounts) {
        let isNew = state.withLock { state in
            defer { state.said = counts.total }
            return state.said != counts.total
        }
        if isNew, !isQuiet { say(WatchReport.line(counts)) }
        guard let metrics else { return }
        // The watch continues if the file of metrics cannot be written, for instance because the disk is full for a
        // time.
        do {
            try AtomicFile.write(WatchReport.metrics(counts).utf8, to: metrics)
            state.withLock { $0.failure = nil }
        } catch {
            let failure = OutputError(description: "cannot write the metrics \(metrics): \(error)")
            if state.withLock({ $0.failure }) == nil { Console.error("shipshape: \(failure.description)") }
            state.withLock { $0.failure = failure }
        }
    }

    private func warn(_ counts: WatchCounts) {
        Console.error("shipshape: warning: \(WatchReport.line(counts))")
        guard let hook else { return }
        hooks.run(
            hook, "--on alarm",
            variables: [
                "SHIPSHAPE_UNSYNCED": "\(counts.total)", "SHIPSHAPE_LIMIT": "\(counts.limit)",
                "SHIPSHAPE_LEDGER": "\(counts.ledger)",
            ])
    }
}
