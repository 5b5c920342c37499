internal import ArgumentParser
internal import Concurrency
internal import Partners
internal import Running

struct PartnerCutoverCommand: PartnerSubcommand {
    static let configuration = CommandConfiguration(
        "partner cutover", "<job>",
        abstract: "Ends the mirror for good, once the original's clients are gone. Nothing is deleted.",
        examples: [
            "partner cutover person-v2.yml",
            "partner cutover person-v2.yml --quiet-for 48h --yes",
        ],
        details: """
            First carries over what clients wrote up to now. It is refused, with all reasons (exit code 1), unless the \
            mirror is stopped, every document is on both sides, the last comparison is recent and found no difference, \
            and no client has written to the original for as long as --quiet-for says.
            """)

    @OptionGroup var arguments: PartnerArguments

    @Option(
        help: ArgumentHelp("How long the original must have been without client writes.", valueName: "duration"))
    var quietFor = DurationArgument(.seconds(24 * 3_600))

    @Option(help: ArgumentHelp("How old the last comparison may be.", valueName: "duration"))
    var verifiedWithin = DurationArgument(PartnerStatus.standardAge)

    @Flag(name: .shortAndLong, help: "Run without asking.")
    var yes = false

    func work() throws -> Work {
        let partner = try arguments.read()
        return Work { frame in
            let pool = try await frame.pool(
                for: "partner cutover", on: arguments.places(of: partner), readsFromPrimary: true)
            let runner = PartnerRunner(
                partner, options: RunOptions(Settings.current), stop: StopSignal(), events: { _ in })
            let registry = PartnerRegistry(StateDatabase.name, on: pool)
            let (quiet, recent) = (quietFor.duration, verifiedWithin.duration)
            let status = try await onOwnedThread(name: "status") { () throws in try registry.status(of: partner) }
            if !yes, status.obstacles(quiet: quiet, recent: recent).isEmpty {
                try Console.confirm(
                    "End the mirror between \(partner.job.source) and \(partner.job.target) for good?",
                    orElse: "nothing was changed", offTerminal: "partner cutover needs --yes")
            }
            try await onOwnedThread(name: "cutover") { () throws in
                try runner.cutOver(quiet: quiet, recent: recent, on: pool)
            }
            return .text(
                "partner \(partner.job.name) is cut over: changes are no longer carried over, and "
                    + "\(partner.job.source) is unchanged\nNext, to drop \(partner.job.source): "
                    + "\(NextCommand("partner drop", [arguments.job]))")
        }
    }
}

struct PartnerDropCommand: PartnerSubcommand {
    static let configuration = CommandConfiguration(
        "partner drop", "<job>",
        abstract: "Drops the original of a partner that is cut over. This cannot be undone.",
        examples: [
            "partner drop person-v2.yml",
            "partner drop person-v2.yml --yes",
        ],
        details: """
            It is refused (exit code 1) unless the partner is cut over and no client has written to the original \
            since.
            """)

    @OptionGroup var arguments: PartnerArguments

    @Flag(name: .shortAndLong, help: "Run without asking.")
    var yes = false

    func work() throws -> Work {
        let partner = try arguments.read()
        return Work { frame in
            let pool = try await frame.pool(
                for: "partner drop", on: arguments.places(of: partner), readsFromPrimary: true)
            let runner = PartnerRunner(
                partner, options: RunOptions(Settings.current), stop: frame.stop, events: { _ in })
            if !yes {
                try Console.confirm(
                    "Drop \(partner.job.source) for good?", orElse: "nothing was dropped",
                    offTerminal: "partner drop needs --yes")
            }
            frame.begin()
            try await onOwnedThread(name: "drop") { () throws in try runner.dropOriginal(on: pool) }
            return .text("\(partner.job.source) is dropped; \(partner.job.target) has its documents")
        }
    }
}
