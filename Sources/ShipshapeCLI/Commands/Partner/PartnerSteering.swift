internal import ArgumentParser
internal import Concurrency
internal import Partners
internal import Reporting

/// `shipshape partner status JOB`.
struct PartnerStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Says how a partner is: copied, mirrored, compared, and how far behind.")

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
        let ids = privacy.display
        try output.show { form, _ in
            switch form {
            case .text: PartnerStatusReport.text(status, ids: ids)
            case .json: PartnerStatusReport.json(status, ids: ids)
            }
        }
    }
}

/// `shipshape partner cutover JOB`.
struct PartnerCutoverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cutover",
        abstract: "Ends the mirror for good, once the original's clients are gone. Nothing is deleted.",
        discussion: """
            Carries over what clients wrote up to now. Refused, with all reasons (exit code 1), unless the mirror is \
            stopped, every document is on both sides, the last comparison is recent and found no difference, and no client \
            has written the original for as long as --quiet-for says.
            """)

    @OptionGroup var arguments: PartnerArguments

    @Option(help: ArgumentHelp("How long no client may have written the original.", valueName: "duration"))
    var quietFor = DurationArgument(.seconds(24 * 3_600))

    @Option(help: ArgumentHelp("How old the last comparison may be.", valueName: "duration"))
    var verifiedWithin = DurationArgument(PartnerStatus.standardAge)

    @Flag(name: .shortAndLong, help: "Do it without asking.")
    var yes = false

    @OptionGroup(title: "The Run") var lease: LeaseFlags

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
                "Carry nothing over between \(partner.job.source) and \(partner.job.target) any more?",
                orElse: "nothing was changed", offTerminal: "partner cutover needs --yes")
        }
        try await onOwnedThread(name: "cutover") { () throws in
            try runner.cutOver(quiet: quiet, recent: recent, on: pool)
        }
        try Console.show(
            "partner \(partner.job.name) is cut over: \(partner.job.target) goes on alone, and \(partner.job.source) is as it "
                + "was; partner drop takes it away")
    }
}

/// `shipshape partner drop JOB`.
struct PartnerDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Drops the original of a partner that is cut over. This cannot be undone.",
        discussion: "Refused (exit code 1) unless the partner is cut over and nobody wrote the original since.")

    @OptionGroup var arguments: PartnerArguments

    @Flag(name: .shortAndLong, help: "Do it without asking.")
    var yes = false

    @OptionGroup(title: "The Run") var lease: LeaseFlags

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

/// `shipshape partner triggers JOB`.
struct PartnerTriggersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "triggers",
        abstract: "Writes App Services triggers and functions that do what the mirror does, for both directions.",
        discussion: """
            For apps whose service still runs: two triggers, two functions and their configuration, below the folder of \
            --out. An entry of functions/config.json that is there already has to be joined by hand. Nothing is deployed.
            """)

    @Argument(help: "The partner job file.", completion: .file())
    var job: String

    @Option(
        help: ArgumentHelp("The folder to write to; else the files go to standard output.", valueName: "folder"),
        completion: .directory)
    var out: String?

    @Option(help: ArgumentHelp("The name of the app's data source.", valueName: "name"))
    var service = "mongodb-atlas"

    @OptionGroup(title: "The App") var app: AppFlags

    func run() async throws {
        let partner = try PartnerArguments.read(job, assuming: app.assumptions)
        let files = try PartnerTriggers(partner, service: service).files()
        guard let out else {
            for file in files { try Console.result("// \(file.path)\n\(file.text)") }
            return
        }
        for file in files { try PartnerFiles.write(file.text, to: file.path, in: out) }
        Console.error("wrote \(files.count) files below \(out): join functions/config.json with the app's own")
    }
}
