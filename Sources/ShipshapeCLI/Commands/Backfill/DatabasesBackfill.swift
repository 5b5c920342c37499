internal import BSON
internal import Backfill
internal import Check
internal import Concurrency
internal import Files
import JobReports
internal import Jobs
internal import Mongo
internal import Privileges
internal import Reporting
internal import Running
internal import Scanning
internal import Steps

/// A backfill in several databases that have the same collections, one after the other, so that the load is never more
/// than that of a single backfill.
struct DatabasesBackfill {
    private let flags: BackfillCommand
    private let job: JobInDatabases
    private let pattern: DatabasePattern

    /// A database that has the job's collection, with the job that is compiled for it.
    private struct Place {
        let database: String
        let job: CompiledJob
        /// The state of the job in this database after earlier runs, such as `done`; `nil` if there was no earlier run.
        var state: String?

        /// Whether the job may have work left in the database.
        var isOpen: Bool { state != "done" && state != "undone" }
    }

    /// Creates the backfill of a job in all databases whose names match a pattern.
    /// - Throws: ``UsageError`` for a job that names several databases; errors of reading the job's schemas.
    init(_ flags: BackfillCommand, of file: Job, in pattern: String) throws {
        if let (namespace, location) = file.elsewhere {
            throw UsageError(
                "--databases: \(location): the step names \(namespace), but a job for many databases can name only "
                    + "collections of \(file.namespace.database), which each database replaces by its own")
        }
        self.flags = flags
        job = try JobInDatabases(reading: file, assuming: AppSettings.assumptions)
        self.pattern = DatabasePattern(text: pattern, stateDatabase: StateDatabase.name)
    }

    /// Runs the job in all matching databases, and returns the outcome.
    /// - Throws: any error found before the first write.
    func run(in frame: Frame) async throws -> CommandOutcome {
        let pool = try frame.pool(readsFromPrimary: !flags.preview.dryRun)
        let names = try await pattern.names(on: pool)
        let places = try await places(names, on: pool)
        let missing = names.filter { name in !places.contains { $0.database == name } }
        if !flags.preview.dryRun { try confirm(places, missing) }
        frame.begin()

        let started = ContinuousClock.now
        let timeline = TimelineKeeper()
        // The databases where the job is done come last, because the run might end early, and a finished job usually
        // has nothing left to change.
        let order = places.filter(\.isOpen) + places.filter { $0.state == "done" }
        var works = DatabaseWorks(
            order.count, flags: flags, on: pool, stop: frame.stop, monitor: frame.monitor, timeline: timeline)
        for place in order { await works.run(place.job, in: place.database, wasDone: !place.isOpen) }
        var report = DatabasesReport(
            job: job.job.name, of: job.job.namespace.database, in: pattern.text, isDryRun: flags.preview.dryRun,
            entries: names.map { name in
                works.entries[name] ?? entry(name, isUndone: places.contains { $0.database == name })
            })
        report.ended = works.ended
        report.added = try await added(to: names, on: pool)
        report.seconds = started.duration(to: .now).seconds
        let result = BackfillMatrix(report, showsValues: flags.preview.showValues, timeline: timeline.finished())
        var outcome = CommandOutcome.result(result, works.status ?? (report.refusal == nil ? nil : .findings))
        outcome.measure = { [report] in $0.take(report) }
        return outcome
    }

    /// Returns the outcome for a database in which the job did not run, because it was undone there or its collection
    /// does not exist there.
    private func entry(_ name: String, isUndone: Bool) -> DatabasesReport.Entry {
        DatabasesReport.Entry(
            database: name, job: job.job.name(in: name) ?? job.job.name, outcome: isUndone ? .undone : .noCollection)
    }

    /// Returns the databases that have the job's collection, after checking the privileges that the job needs there.
    /// - Throws: ``InputError`` if no database has the collection, or if the name of a database makes the name of its
    ///   job invalid; ``MongoError``; errors of checking the privileges.
    private func places(_ names: [String], on pool: ClientPool) async throws -> [Place] {
        let collection = job.job.namespace.collection
        let found = try await onOwnedThread(name: "collections") { () throws in
            let client = try pool.client()
            return try names.filter { name in
                try !client.listCollections(of: name, options: ["filter": ["name": .string(collection)]]).isEmpty
            }
        }
        guard !found.isEmpty else {
            throw InputError(
                "none of the \(names.count.counted("database")) matching \(pattern.text) has a collection \(collection)"
            )
        }
        var places = try found.map { name in
            guard let title = job.job.name(in: name) else {
                throw InputError(
                    "the job in the database \(name) would be called \(job.job.name).in-\(name), and "
                        + "\(JobFile.nameRule): give the job a shorter name, or name other databases with --databases")
            }
            return Place(database: name, job: try job.compiled(title, for: name))
        }
        var needed = WorkPlaces(state: StateDatabase.name)
        for place in places {
            needed.add(place.job.reach, ledger: LedgerPlace.location, apps: LedgerPlace.apps().ids)
        }
        try await pool.requirePrivileges(for: flags.needs, on: needed)
        let states = try await states(of: places.map(\.job.job.name), on: pool)
        for index in places.indices { places[index].state = states[places[index].job.job.name] }
        return places
    }

    /// Returns the state of each job by name; empty for a dry run if the user lacks the privilege to read the state
    /// database.
    private func states(of jobs: [String], on pool: ClientPool) async throws -> [String: String] {
        let registry = JobRegistry(StateDatabase.name, on: pool)
        return try await onOwnedThread(name: "state") { [isDryRun = flags.preview.dryRun] () throws in
            do { return try registry.states(of: jobs) } catch let error as MongoError
                where isDryRun && error.isAuthorization
            {
                return [:]
            }
        }
    }

    /// Shows the databases in which the job runs and the notes on the job, then asks for confirmation.
    ///
    /// With `--yes`, the user is not asked. With `--yes` and `--quiet`, nothing is shown either.
    private func confirm(_ places: [Place], _ missing: [String]) throws {
        let names = { (isMeant: (Place) -> Bool) in places.filter(isMeant).map(\.database).joined(separator: ", ") }
        let lines = [
            ("to run in, one after the other", names(\.isOpen)),
            ("done, to be checked again", names { $0.state == "done" }),
            ("undone there, not run again", names { $0.state == "undone" }),
            ("without a collection \(job.job.namespace.collection)", missing.joined(separator: ", ")),
        ]
        if !(flags.yes && flags.output.quiet) {
            let shown = lines.filter { !$0.1.isEmpty }.map { "  \($0): \($1)" }
            let notes = job.own.notes(keepsJournal: flags.options.keepsJournal && job.job.keepsJournal)
            Console.error(
                (["job \(job.job.name) in \(places.count.counted("database")) matching \(pattern.text)"] + shown
                    + notes.map { "  Note: \($0)" }).joined(separator: "\n"))
        }
        guard !flags.yes else { return }
        try Console.confirm(
            "Write to \(places.count == 1 ? "it" : "them")?", orElse: "nothing was written",
            offTerminal: "backfill needs --yes (--dry-run shows what it would do)")
    }

    /// Returns the databases that match the pattern and were created during the run; none if they cannot be listed.
    private func added(to names: [String], on pool: ClientPool) async throws -> [String] {
        ((try? await pattern.matches(on: pool)) ?? []).filter { !names.contains($0) }
    }
}
