internal import ArgumentParser
internal import Concurrency
internal import Partners
internal import Reporting

/// The command `shipshape partner status JOB`.
struct PartnerStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "partner status", "<job>",
        abstract: "Shows the state of a partner: copied, mirrored, compared, and how far the mirror lags.",
        examples: [
            "partner status person-v2.yml",
            "partner status person-v2.yml --report partner.json",
        ])

    @OptionGroup var arguments: PartnerArguments
    @OptionGroup(title: "Privacy") var privacy: PrivacyFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func run() async throws {
        try output.prepare(reading: arguments.files)
        let partner = try arguments.read()
        let pool = try arguments.connection.pool(readsFromPrimary: true)
        try await pool.requirePrivileges(for: "partner status", on: arguments.places(of: partner))
        let registry = PartnerRegistry(arguments.state.stateDatabase, on: pool)
        let status = try await onOwnedThread(name: "status") { () throws in try registry.status(of: partner) }
        try output.show(PartnerStatusResult(status, ids: privacy.display))
    }
}

/// The command `shipshape partner cutover JOB`.
struct PartnerCutoverCommand: AsyncParsableCommand {
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

    @OptionGroup(title: "The Run") var lease: LeaseFlags
    @OptionGroup(title: "Output") var color: ColorFlags

    func run() async throws {
        let partner = try arguments.read()
        let pool = try arguments.connection.pool(readsFromPrimary: true)
        try await pool.requirePrivileges(for: "partner cutover", on: arguments.places(of: partner))
        let runner = PartnerRunner(
            partner, options: lease.options(arguments.state), stop: StopSignal(), events: { _ in })
        let registry = PartnerRegistry(arguments.state.stateDatabase, on: pool)
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
        try Console.show(
            "partner \(partner.job.name) is cut over: changes are no longer carried over, and \(partner.job.source) "
                + "is unchanged\nNext, to drop \(partner.job.source): "
                + "\(NextCommand("partner drop", [arguments.job]))")
    }
}

/// The command `shipshape partner drop JOB`.
struct PartnerDropCommand: AsyncParsableCommand {
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

    @OptionGroup(title: "The Run") var lease: LeaseFlags
    @OptionGroup(title: "Output") var color: ColorFlags

    func run() async throws {
        let partner = try arguments.read()
        let pool = try arguments.connection.pool(readsFromPrimary: true)
        let interruption = Interruption()
        let signals = interruption.listen()
        defer { signals.cancel() }
        let runner = PartnerRunner(
            partner, options: lease.options(arguments.state), stop: interruption.stop, events: { _ in })
        try await pool.requirePrivileges(for: "partner drop", on: arguments.places(of: partner))
        if !yes {
            try Console.confirm(
                "Drop \(partner.job.source) for good?", orElse: "nothing was dropped",
                offTerminal: "partner drop needs --yes")
        }
        interruption.beginWork()
        try await onOwnedThread(name: "drop") { () throws in try runner.dropOriginal(on: pool) }
        try Console.show("\(partner.job.source) is dropped; \(partner.job.target) has its documents")
    }
}

/// The command `shipshape partner triggers JOB`.
struct PartnerTriggersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "partner triggers", "<job>",
        abstract: "Writes App Services triggers and functions that do what the mirror does, in both directions.",
        examples: [
            "partner triggers person-v2.yml --out app",
            "partner triggers person-v2.yml --service Cluster0",
        ],
        details: """
            For apps whose App Services still run: two triggers, two functions and their configuration, in the folder \
            of --out. If the app already has a functions/config.json, add the new entries to it by hand. Nothing is \
            deployed.
            """, connects: false)

    @Argument(help: "The partner job file.", completion: .file())
    var job: String

    @Option(
        help: ArgumentHelp("The folder to write to; default: standard output.", valueName: "folder"),
        completion: .directory)
    var out: String?

    @Option(help: ArgumentHelp("The name of the app's data source.", valueName: "name"))
    var service = "mongodb-atlas"

    @OptionGroup(title: "The App") var app: AppFlags
    @OptionGroup(title: "Output") var color: ColorFlags

    func run() async throws {
        let partner = try PartnerArguments.read(job, assuming: app.assumptions)
        let files = try PartnerTriggers(partner, service: service).files()
        guard let out else {
            for file in files { try Console.result("// \(file.path)\n\(file.text)") }
            return
        }
        for file in files { try PartnerFiles.write(file.text, to: file.path, in: out) }
        Console.error("wrote \(files.count) files below \(out): merge functions/config.json into the app's own")
    }
}
