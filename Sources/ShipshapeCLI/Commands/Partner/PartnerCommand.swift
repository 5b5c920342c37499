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
            PartnerCutoverCommand.self, PartnerDropCommand.self,
        ])
}

struct PartnerArguments: ParsableArguments {
    @Argument(help: "The partner job file.", completion: .file())
    var job: String

    @OptionGroup(title: "Connection") var connection: ConnectionFlags
    @OptionGroup(title: "Connection") var protection: ProtectionFlags

    /// Reads the job and the schemas that it names.
    /// - Throws: errors of reading; ``RunError`` if the original or the partner is a collection of the server, the sync
    ///   service or the state database.
    func read() throws -> Partner {
        let partner = try Self.read(job)
        try partner.job.checkNamespaces(stateDatabase: StateDatabase.name)
        return partner
    }

    static func read(_ path: String) throws -> Partner {
        let job = try PartnerJob.read(at: path)
        func schema(_ path: String?, _ side: PartnerSide) throws -> ServerSchema? {
            guard let path else { return nil }
            let place = FilePath(job.path).removingLastComponent().pushing(FilePath(path)).string
            let isFolder = (try? FilePath(place).stat().type) == .directory
            return try ServerSchema.read(at: place, named: path, namespace: isFolder ? nil : job.namespace(side))
        }
        return try Partner(
            job, source: schema(job.schemas.source, .source), target: schema(job.schemas.target, .target),
            assuming: AppSettings.assumptions)
    }

    /// Returns the collections and databases on which the user needs privileges for a command about a partner.
    func places(of partner: Partner) -> WorkPlaces { WorkPlaces(partner, state: StateDatabase.name) }
}

/// A command about a partner, which writes to the deployment.
protocol PartnerSubcommand: WritingCommand {
    var arguments: PartnerArguments { get }
}

extension PartnerSubcommand {
    var connection: ConnectionFlags { arguments.connection }
    var protection: ProtectionFlags { arguments.protection }
}

struct PartnerInitCommand: PartnerSubcommand {
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

    @OptionGroup(title: "Output") var output: OutputFlags

    func work() throws -> Work {
        let partner = try arguments.read()
        return Work("partner init", partner.job.name, output: output, reads: [arguments.job]) {
            try await run(partner, in: $0)
        }
    }

    private func run(_ partner: Partner, in frame: Frame) async throws -> CommandOutcome {
        var options = RunOptions(Settings.current)
        options.maxRuntime = maxRuntime?.duration
        options.allowUnsync = allowUnsync
        options.ledger = LedgerPlace.scope()
        let quiet = output.quiet
        let pool = try await frame.pool(
            for: dryRun ? "partner init --dry-run" : "partner init",
            on: WorkPlaces(
                partner, state: StateDatabase.name, ledger: LedgerPlace.location, apps: LedgerPlace.apps().ids),
            readsFromPrimary: true)
        let planner = PartnerRunner(partner, options: options, stop: frame.stop, events: { _ in })
        let plan = try await onOwnedThread(name: "plan") { () throws in try planner.plan(on: pool) }
        if plan.isRefused || dryRun {
            var outcome = CommandOutcome.result(result(plan, nil), plan.isRefused ? ExitStatus.findings : nil)
            outcome.after = {
                guard plan.isRefused, !quiet else { return }
                Console.error("shipshape: nothing was written: change the steps or fix the documents first")
            }
            return outcome
        }
        try planner.checkHeadroom(of: plan)
        if !plan.isDone { try confirm(plan) }
        frame.begin()
        let progress = ProgressLine(
            partner.job.name, total: max(0, plan.documents - (plan.copiedBefore ?? 0)), isShown: output.showsProgress)
        defer { progress.finish() }
        let runner = PartnerRunner(partner, options: options, stop: frame.stop) { event in
            event.show(on: progress, quiet: quiet)
        }
        let report = try await onOwnedThread(name: "partner") { () throws in try runner.run(plan, on: pool) }
        let status: ExitStatus? =
            report.stopped != nil ? .stopped : report.refusals.count > 0 ? .findings : nil
        return .result(result(plan, report), status)
    }

    private func confirm(_ plan: PartnerPlan) throws {
        if !(yes && output.quiet) {
            Console.error(TextReport(PartnerInitResult(plan, nil, ids: IDForm.display).report).text)
        }
        guard !yes else { return }
        try Console.confirm(
            "Create \(plan.target)?", orElse: "nothing was written", offTerminal: "partner init needs --yes")
    }

    private func result(_ plan: PartnerPlan, _ report: PartnerReport?) -> PartnerInitResult {
        PartnerInitResult(plan, report, ids: IDForm.display, next: next(after: plan, report))
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

struct PartnerVerifyCommand: PartnerSubcommand {
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

    @OptionGroup(title: "Output") var output: OutputFlags

    func work() throws -> Work {
        let partner = try arguments.read()
        return Work(
            "partner verify", partner.job.name, output: output, reads: [arguments.job],
            idle: "stopped by a signal; a comparison has no state, so the next one starts over"
        ) { frame in
            let pool = try await frame.pool(for: "partner verify", on: arguments.places(of: partner))
            frame.begin()
            let progress = ProgressLine("verify", total: nil, isShown: output.showsProgress)
            defer { progress.finish() }
            let verification = PartnerVerification(partner, settling: settle.duration, stop: frame.stop) {
                progress.add($0)
            }
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
            let next = "Next, once the original's clients are gone: \(NextCommand("partner cutover", [arguments.job]))"
            return .result(
                PartnerVerifyResult(comparison, ids: IDForm.display, next: [next]),
                comparison.count > 0 ? ExitStatus.findings : nil)
        }
    }

    /// Stores the result of the comparison in the state database; prints a note instead if the user lacks the privilege
    /// to write there.
    private func keep(_ comparison: PartnerComparison, _ partner: Partner) async throws {
        let pool = try arguments.connection.pool(readsFromPrimary: true)
        let registry = PartnerRegistry(StateDatabase.name, on: pool)
        let note = try await onOwnedThread(name: "verify") { () throws in try registry.keep(comparison, of: partner) }
        if let note, !output.quiet { Console.error("shipshape: \(note)") }
    }
}
