internal import ArgumentParser
internal import Concurrency
internal import Files
internal import Logging
internal import Partners
internal import Reporting
internal import Running
internal import Synchronization

struct PartnerMirrorCommand: PartnerSubcommand {
    static let configuration = CommandConfiguration(
        "partner mirror", "<job>",
        abstract: "Keeps both sides equal while clients write to both.",
        examples: [
            "partner mirror person-v2.yml --metrics mirror.prom",
            "partner mirror person-v2.yml --once",
        ],
        details: """
            Follows the change streams of both sides from before the first document was copied, and carries each \
            change over. If both documents of a pair changed before one could be carried over, the later change wins, \
            and the mirror names the pair. It also names a document that cannot be on the other side, or would not \
            come back unchanged; until that is resolved, neither document of the pair overwrites the other. The next \
            run continues where this one ends.

            Runs until SIGINT or SIGTERM, and then ends with 0. With --once, it ends when it has carried over all that \
            happened before it began.
            """)

    @OptionGroup var arguments: PartnerArguments

    @Flag(name: .customLong("once"), help: "End once all changes are carried over.")
    var once = false

    @Flag(
        help: ArgumentHelp(
            "Compare every pair first, for when the oplog no longer holds what changed.",
            discussion:
                "A document that one side lacks is created there. If both differ, the original wins. Nothing is "
                + "deleted."))
    var rescan = false

    @Option(
        help: ArgumentHelp("Write the counts and the lag to this Prometheus textfile.", valueName: "file"),
        completion: .file())
    var metrics: String?

    @OptionGroup(title: "Output") var output: OutputFlags

    func work() throws -> Work {
        let partner = try arguments.read()
        return Work("partner mirror", partner.job.name, output: output, reads: [arguments.job], writes: [metrics]) {
            frame in
            let showing = MirrorShowing(
                name: partner.job.name, metrics: metrics, isQuiet: output.quiet, ids: IDForm.display)
            let mirror = Mirror(
                partner, options: RunOptions(Settings.current), endsWhenCaughtUp: once, comparesAll: rescan,
                stop: frame.stop
            ) { showing.show($0) }
            let pool = try await frame.pool(
                for: "partner mirror", on: arguments.places(of: partner), readsFromPrimary: true)
            frame.begin()
            let outcome = try await onOwnedThread(name: "mirror") { () throws in try mirror.run(on: pool) }
            let next = once && outcome.isCaughtUp ? ["Next: \(NextCommand("partner verify", [arguments.job]))"] : []
            return .result(
                MirrorResult(outcome, of: partner.job.name, next: next),
                once && !outcome.isCaughtUp ? ExitStatus.stopped : nil)
        }
    }
}

final class MirrorShowing: Sendable {
    private let name: String
    private let metrics: String?
    private let isQuiet: Bool
    private let ids: IDDisplay
    private let hasFailed = Mutex(false)

    init(name: String, metrics: String?, isQuiet: Bool, ids: IDDisplay) {
        (self.name, self.metrics, self.isQuiet, self.ids) = (name, metrics, isQuiet, ids)
    }

    func show(_ event: MirrorEvent) {
        switch event {
        case .progress(let counts): write(counts)
        case .conflict(let id, let winner): say(MirrorReport.conflict(id, winner, ids))
        case .refused(let side, let refusal): say(MirrorReport.refusal(refusal, side, ids))
        case .run(let event):
            guard let (line, level) = event.message, level >= .notice else { return }
            say(line, level: level)
        case _ where isQuiet: break
        case .following(let lag): say("follows both sides, from \(lag) s ago")
        case .caughtUp: say("caught up")
        }
    }

    private func say(_ line: String, level: Logger.Level = .info) {
        Log.logger(of: name).log(level: level, "\(line)")
    }

    private func write(_ counts: MirrorCounts) {
        guard let metrics else { return }
        do {
            try AtomicFile.write(MirrorReport.metrics(counts, of: name).utf8, to: metrics)
        } catch {
            // If the metrics cannot be written, for instance because the disk is full for a time, the mirror continues.
            // Only the first such failure is reported.
            let isNew = hasFailed.withLock { failed in
                defer { failed = true }
                return !failed
            }
            if isNew { Console.error("shipshape: cannot write the metrics \(metrics): \(error)") }
        }
    }
}
