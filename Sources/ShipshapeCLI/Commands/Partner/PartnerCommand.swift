internal import ArgumentParser
internal import Checking
internal import Concurrency
internal import Foundation
internal import JobState
internal import Partners
internal import Privileges
internal import Reporting
internal import Running
internal import Scanning
internal import ServerSchema
internal import SystemPackage

/// The command `shipshape partner …`.
struct PartnerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "partner",
        abstract: "Keeps a second collection in sync with the first, for breaking changes.",
        discussion: CommandConfiguration.text(
            examples: [
                "partner plan v1 v2 --collection app.person --out person-v2.yml",
                "partner init person-v2.yml --dry-run", "partner mirror person-v2.yml",
            ],
            """
            A partner collection holds the same data in the shape of the next schema, so that old and new clients can \
            work at the same time. A job file says how a document of one becomes a document of the other, and back.
            """),
        subcommands: [
            PartnerPlanCommand.self, PartnerInitCommand.self, PartnerMirrorCommand.self, PartnerVerifyCommand.self,
            PartnerStatusCommand.self, PartnerCutoverCommand.self, PartnerDropCommand.self,
            PartnerTriggersCommand.self,
        ])
}

/// The arguments of the commands that read a partner job.
struct PartnerArguments: ParsableArguments {
    @Argument(help: "The partner job file.", completion: .file())
    var job: String

    @OptionGroup(title: "The App") var app: AppFlags
    @OptionGroup(title: "State") var state: StateFlags
    @OptionGroup(title: "Connection", visibility: .onOwnPage) var connection: ConnectionFlags

    /// Reads the job and the schemas that it names.
    /// - Throws: errors of reading; ``RunError`` if the original or the partner is a collection of the server, the sync
    ///   service or the state database.
    func read() throws -> Partner {
        let partner = try Self.read(job, assuming: app.assumptions)
        try partner.job.checkNamespaces(stateDatabase: state.stateDatabase)
        return partner
    }

    /// Reads a job and the schemas that it names.
    static func read(_ path: String, assuming assumptions: CheckOptions) throws -> Partner {
        let job = try PartnerJob.read(at: path)
        func schema(_ path: String?, _ side: PartnerSide) throws -> ServerSchema? {
            guard let path else { return nil }
            let place = FilePath(job.path).removingLastComponent().pushing(FilePath(path)).string
            let isFolder = (try? FilePath(place).stat().type) == .directory
            return try ServerSchema.read(at: place, named: path, namespace: isFolder ? nil : job.namespace(side))
        }
        return try Partner(
            job, source: schema(job.schemas.source, .source), target: schema(job.schemas.target, .target),
            assuming: assumptions)
    }

    /// Returns the collections and databases on which the user needs privileges for a command about a partner.
    func places(of partner: Partner) -> WorkPlaces { WorkPlaces(partner, state: state.stateDatabase) }

    /// The files that the command reads.
    var files: [String?] { [job] + connection.files }
}

/// The flags for the duration of a lease, and for how long to wait for one.
struct LeaseFlags: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "How long this runner's lease on the partner lasts after each renewal.", valueName: "duration"))
    var leaseTtl = DurationArgument(.seconds(30))

    @Option(
        help: ArgumentHelp("How long to wait while another live runner holds the partner.", valueName: "duration"))
    var leaseWait = DurationArgument(.seconds(0))

    func validate() throws {
        guard (.seconds(1)...(.seconds(3_600))).contains(leaseTtl.duration) else {
            throw ValidationError(
                "--lease-ttl must be from 1s to 1h: a runner that dies holds the partner for that long")
        }
    }

    /// Returns the options of a run from these flags and the flag for the state database.
    func options(_ state: StateFlags) -> RunOptions {
        var options = RunOptions()
        options.stateDatabase = state.stateDatabase
        options.lease = LeaseTerms(duration: leaseTtl.duration)
        options.leaseWait = leaseWait.duration
        return options
    }
}

/// The command `shipshape partner init JOB`.
struct PartnerInitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "partner init", "<job>",
        abstract: "Creates the partner: copies every document in its new shape, with indexes and validator.",
        examples: [
            "partner init person-v2.yml --dry-run",
            "partner init person-v2.yml --yes --max-runtime 2h",
        ],
        details: """
            First every document is converted to the new shape and back. Documents that would not come back unchanged, \
            or would break a unique index, are listed, and then nothing is written (exit code 1). The copy runs in \
            chunks, each checkpointed; if it is stopped or killed, the next run continues from there. The collation is \
            copied, too. The mirror carries over what changes during the copy.
            """)

    @OptionGroup var arguments: PartnerArguments

    @Flag(name: .shortAndLong, help: "Run without asking.")
    var yes = false

    @Flag(help: "Show what would be done and what prevents it; write nothing.")
    var dryRun = false

    @Option(help: ArgumentHelp("Accept this many documents that do not sync in the partner.", valueName: "count"))
    var allowUnsync: Int?

    @Option(help: ArgumentHelp("Stop after this time, between two chunks, with exit code 75.", valueName: "duration"))
    var maxRuntime: DurationArgument?

    @OptionGroup(title: "The Run") var lease: LeaseFlags
    @OptionGroup(title: "Ledger") var ledger: LedgerFlags
    @OptionGroup(title: "Privacy") var privacy: PrivacyFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func run() async throws {
        try output.prepare(reading: arguments.files)
        let partner = try arguments.read()
        let pool = try arguments.connection.pool(readsFromPrimary: true)
        var options = lease.options(arguments.state)
        options.maxRuntime = maxRuntime?.duration
        options.allowUnsync = allowUnsync
        options.ledger = ledger.scope(of: [])
        let interruption = Interruption()
        let signals = interruption.listen()
        defer { signals.cancel() }
        let quiet = output.quiet
        try await pool.requirePrivileges(
            for: dryRun ? "partner init --dry-run" : "partner init",
            on: WorkPlaces(
                partner, state: arguments.state.stateDatabase, ledger: ledger.location,
                apps: ledger.apps(of: []).ids))
        let planner = PartnerRunner(partner, options: options, stop: interruption.stop, events: { _ in })
        let plan = try await onOwnedThread(name: "plan") { () throws in try planner.plan(on: pool) }
        if plan.isRefused || dryRun {
            try show(plan, nil)
            guard plan.isRefused else { return }
            if !quiet { Console.error("shipshape: nothing was written: change the steps or fix the documents first") }
            throw ExitStatus.findings
        }
        try planner.checkHeadroom(of: plan)
        if !plan.isDone { try confirm(plan) }
        interruption.beginWork()
        let progress = ProgressLine(
            partner.job.name, total: max(0, plan.documents - (plan.copiedBefore ?? 0)), isShown: output.showsProgress)
        defer { progress.finish() }
        let runner = PartnerRunner(partner, options: options, stop: interruption.stop) { event in
            event.show(on: progress, quiet: quiet)
        }
        let report = try await onOwnedThread(name: "partner") { () throws in try runner.run(plan, on: pool) }
        progress.finish()
        try show(plan, report)
        if report.stopped != nil { throw ExitStatus.stopped }
        if report.refusals.count > 0 { throw ExitStatus.findings }
    }

    private func confirm(_ plan: PartnerPlan) throws {
        if !(yes && output.quiet) {
            Console.error(TextReport(PartnerInitResult(plan, nil, ids: privacy.display).report).text)
        }
        guard !yes else { return }
        try Console.confirm(
            "Create \(plan.target)?", orElse: "nothing was written", offTerminal: "partner init needs --yes")
    }

    private func show(_ plan: PartnerPlan, _ report: PartnerReport?) throws {
        let result = PartnerInitResult(plan, report, ids: privacy.display, next: next(after: plan, report))
        try output.show(result)
    }

    /// Returns a line that proposes the next command, `partner mirror` or `partner init`; no line if the operator has
    /// to fix something first, or if the run was stopped.
    private func next(after plan: PartnerPlan, _ report: PartnerReport?) -> [String] {
        let isCopied = report.map { $0.stopped == nil && $0.refusals.count == 0 } ?? plan.isDone
        let lacksRoom = plan.headroom.map { plan.failing > max($0.documents, allowUnsync ?? 0) } ?? false
        if !isCopied, report != nil || plan.isRefused || lacksRoom { return [] }
        return ["Next: \(NextCommand("partner \(isCopied ? "mirror" : "init")", [arguments.job]))"]
    }
}

/// The command `shipshape partner verify JOB`.
struct PartnerVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        "partner verify", "<job>",
        abstract: "Compares both sides, document by document, and lists every difference with its direction.",
        examples: [
            "partner verify person-v2.yml",
            "partner verify person-v2.yml --settle 30s --report verify.json",
        ],
        details: """
            Reads every document of both sides. Pairs that differ, or changed in between, are compared again as of one \
            time, which the report states, for as long as --settle says, because a running mirror always has some \
            changes under way. Exit code 1 means that there are differences. The result is stored in the state \
            database for status and cutover.
            """)

    @OptionGroup var arguments: PartnerArguments

    @Option(help: ArgumentHelp("How long to compare again the pairs that differ.", valueName: "duration"))
    var settle = DurationArgument(.seconds(5))

    @OptionGroup(title: "Privacy") var privacy: PrivacyFlags
    @OptionGroup(title: "Output") var output: OutputFlags

    func run() async throws {
        try output.prepare(reading: arguments.files)
        let partner = try arguments.read()
        let pool = try arguments.connection.pool()
        let interruption = Interruption()
        let (stop, signals) = (interruption.stop, interruption.listen())
        defer { signals.cancel() }
        try await pool.requirePrivileges(for: "partner verify", on: arguments.places(of: partner))
        interruption.beginWork()
        let progress = ProgressLine("verify", total: nil, isShown: output.showsProgress)
        defer { progress.finish() }
        let verification = PartnerVerification(partner, settling: settle.duration, stop: stop) { progress.add($0) }
        let comparison: PartnerComparison
        do {
            comparison = try await onOwnedThread(name: "verify") { () throws in try verification.run(on: pool) }
        } catch is StopAsked {
            progress.finish()
            Console.error("shipshape: stopped by a signal; a comparison has no state, so the next one starts over")
            throw ExitStatus.stopped
        }
        progress.finish()
        try await keep(comparison, partner)
        let cutover = NextCommand("partner cutover", [arguments.job])
        let next = "Next, once the original's clients are gone: \(cutover)"
        try output.show(PartnerVerifyResult(comparison, ids: privacy.display, next: [next]))
        if comparison.count > 0 { throw ExitStatus.findings }
    }

    /// Stores the result of the comparison in the state database; prints a note instead if the user lacks the privilege
    /// to write there.
    private func keep(_ comparison: PartnerComparison, _ partner: Partner) async throws {
        let pool = try arguments.connection.pool(readsFromPrimary: true)
        let registry = PartnerRegistry(arguments.state.stateDatabase, on: pool)
        let note = try await onOwnedThread(name: "verify") { () throws in try registry.keep(comparison, of: partner) }
        if let note, !output.quiet { Console.error("shipshape: \(note)") }
    }
}
