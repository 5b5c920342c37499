internal import BSON
internal import Check
internal import Checking
internal import Concurrency
internal import Enforcing
internal import JobState
internal import Mongo
internal import Reporting
internal import Scanning
internal import ServerSchema

/// One run of `enforce`, which checks the documents and tightens the validator step by step.
struct EnforceRun {
    private let command: EnforceCommand
    private let deployment: EnforcedDeployment
    private let subject: (schema: ServerSchema, validator: BSONDocument)?
    private let interruption: Interruption

    init(
        _ command: EnforceCommand, _ deployment: EnforcedDeployment,
        _ subject: (schema: ServerSchema, validator: BSONDocument)?, _ interruption: Interruption
    ) {
        (self.command, self.deployment, self.subject) = (command, deployment, subject)
        self.interruption = interruption
    }

    private var namespace: Namespace { deployment.namespace }
    private var target: EnforcementStage { command.to.stage }

    /// Returns a report on the collection's present stage of enforcement, without reading documents.
    func status() async throws -> EnforcementReport {
        let validator = subject?.validator
        let state = try await deployment.with { try $0.read(for: validator, isStatus: true) }
        var found = report(.status, state)
        if subject == nil, state.isFresh { found.toCome = [] }
        return found
    }

    /// Tightens the validator, stage by stage, up to the stage that the user names, as far as the documents allow.
    func go() async throws -> EnforcementReport {
        if target == .constraint { try await deployment.requireConstraint() }
        var state = try await read(restarts: command.restart)
        var done: [BSONDocument] = []
        var checked: (report: CheckReport, stage: EnforcementStage)?
        while true {
            // Before the stage `error`, clients can write documents that do not fit. A check that was made before this
            // stage is therefore repeated once the collection has reached it.
            let isStale = checked.map { state.stage >= .error && $0.stage < .error } ?? true
            if isStale { checked = (try await check(), state.stage) }
            guard let found = checked?.report else { preconditionFailure("it was just made") }
            if command.mode.dryRun { return report(.dryRun, state, found) }
            if state.stage >= .warn, found.total.certain > 0 {
                return report(.notFitting, state, found, done)
            }
            guard state.stage < target, let next = state.stage.next,
                let step = state.path.command(to: next)
            else { return report(.done, state, found, done) }
            try confirm([step], found, state)
            state = try await advance(from: state)
            done.append(step)
        }
    }

    /// Restores the validator, the level and the action from before `enforce`.
    func abort() async throws -> EnforcementReport {
        let (record, commands, _) = try await deployment.with { try $0.readForAbort() }
        try confirm(commands)
        interruption.beginWork()
        let now = try await deployment.with { try $0.abort() }
        var report = EnforcementReport(
            namespace, .aborted, at: .before, to: .before, before: record.before, now: now)
        report.done = commands
        return report
    }

    private func read(restarts: Bool) async throws -> Enforcement.State {
        let validator = subject?.validator
        return try await deployment.with { try $0.read(for: validator, restarts: restarts) }
    }

    /// Does the next step, and returns the state after it; a signal during the step ends the run after the step.
    private func advance(from state: Enforcement.State) async throws -> Enforcement.State {
        interruption.beginWork()
        try await deployment.with { try $0.advance(from: state) }
        interruption.endWork()
        let now = try await read(restarts: false)
        if !command.output.quiet { Console.error("\(namespace) is \(EnforceWords.place(now.stage))") }
        guard !interruption.stop.isRaised else {
            throw RunError(
                .stopped,
                "stopped by a signal: \(namespace) is \(EnforceWords.place(now.stage)); run it again to continue")
        }
        return now
    }

    /// Shows the commands of the steps and asks for confirmation.
    ///
    /// With `--yes`, the user is not asked. With `--yes` and `--quiet`, nothing is shown either.
    private func confirm(
        _ steps: [BSONDocument], _ found: CheckReport? = nil, _ state: Enforcement.State? = nil
    ) throws {
        if !(command.yes && command.output.quiet) {
            if let found {
                Console.error("\(found.readCount.documents) read: \(EnforceWords.misfits(found.total.certain))")
            }
            if let state, state.stage == .before, !state.seen.validation.validator.isEmpty,
                state.seen.validation.action != "warn"
            {
                Console.error(
                    "this step replaces the current validator: until error is set, the server refuses nothing")
            }
            for step in steps { Console.error("  \(EnforceWords.command(step, of: namespace).printable)") }
        }
        guard !command.yes, !steps.isEmpty else { return }
        try Console.confirm("Run it?", orElse: "nothing was changed", offTerminal: "enforce needs --yes")
    }

    private func check() async throws -> CheckReport {
        guard let subject else { preconditionFailure("a check has a validator") }
        var run = CheckRun(
            schema: subject.schema, limit: .max, scan: ScanSelection(Settings.current),
            map: try NamespaceMap([], for: [namespace]),
            makeProgress: (command.output.showsProgress ? ProgressLine.ofCheck : ProgressLine.hidden),
            stop: interruption.stop)
        run.ledger.location = .none
        run.stateDatabase = StateDatabase.name
        run.rules.tally.keepsValues = command.privacy.showValues
        run.proves = command.evidence.countGroups
        run.failures = try command.failing.open(IDForm.display, in: .jsonSchema)
        do {
            var report = try await run.check(live: deployment.reading)
            report.rules.dialect = .jsonSchema
            if let (file, lines) = run.failures { try file.finish(lines.result(report)) }
            return report
        } catch {
            run.failures?.file.discard()
            throw error
        }
    }

    private func report(
        _ outcome: EnforcementReport.Outcome, _ state: Enforcement.State, _ found: CheckReport? = nil,
        _ done: [BSONDocument] = []
    ) -> EnforcementReport {
        let path = state.path
        var report = EnforcementReport(
            namespace, outcome, at: state.stage, to: target, before: path.before, now: state.seen.validation)
        report.done = done
        report.toCome = EnforcementStage.allCases.filter { $0 > state.stage && $0 <= target }.compactMap {
            path.command(to: $0)
        }
        report.check = found
        if let validator = command.validator, found.map({ $0.total.certain > 0 }) == true {
            let plan = NextCommand(
                "plan", [validator.name], [(name: "--collection", value: "\(namespace)"), ("--out", "jobs")])
            report.notes.append("the jobs that make the documents fit: \(plan)")
        }
        report.mark = state.record.map { record in
            "\(record.step)\(record.isDone ? "" : ", not confirmed"), by \(record.person), "
                + "\(record.time.map(\.description) ?? "at an unknown time")"
        }
        return report
    }
}
