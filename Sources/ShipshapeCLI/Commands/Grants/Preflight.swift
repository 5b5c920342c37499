internal import BSON
internal import Backfill
internal import Check
internal import Checking
internal import Concurrency
internal import Files
internal import Mongo
internal import Partners
internal import Privileges
internal import Scanning
internal import ServerSchema

extension ClientPool {
    /// Checks, before a command does anything, that the user has the privileges for the command.
    ///
    /// The method also refuses reads that could leave out documents, and asks for confirmation if the command writes to
    /// a protected environment.
    ///
    /// The check of privileges is skipped if no user is logged in, or if the server does not report privileges. The
    /// server itself then refuses each action that the user must not take.
    /// - Throws: ``MissingPrivileges``; ``MongoError`` without a connection; ``UsageError``; ``ExitStatus/stopped``.
    func requirePrivileges(for command: String, on places: WorkPlaces) async throws {
        guard let needs = CommandNeeds.of(command) else { preconditionFailure("no command \"\(command)\"") }
        try await requirePrivileges(needs, on: places)
    }

    /// Checks that the user has the privileges `needs`, and makes the other checks of ``requirePrivileges(for:on:)``.
    ///
    /// The privileges `needs` may be only some of the privileges that the command needs. `enforce` calls this method
    /// directly, because one user can perform its `collMod` commands, and another user its other commands.
    func requirePrivileges(_ needs: CommandNeeds, on places: WorkPlaces) async throws {
        try await refuseIncompleteReads()
        let user: UserPrivileges?
        do {
            user = try await onOwnedThread(name: "preflight") { () throws in try self.client().userPrivileges() }
        } catch let error as MongoError where !error.isServerSelection && !error.isAuthentication {
            user = nil
        }
        if let user, let missing = MissingPrivileges(of: user, for: needs, on: places) { throw missing }
        guard needs.isWriting else { return }
        try await refuseSecondary()
        try Settings.current.confirmWriting(needs.command)
    }
}

extension ClientPool {
    /// Ends a command that writes if the connection string leads to a secondary only, although there is a primary.
    ///
    /// The driver then asks no other member, and a write would be tried again until a primary has been awaited in vain.
    /// During an election, there is no primary, and the command waits.
    private func refuseSecondary() async throws {
        guard redactedURI.hasPrefix("mongodb://"), !redactedURI.contains("replicaSet="),
            redactedURI.split(separator: "/", maxSplits: 3).dropFirst().first?.contains(",") == false
        else { return }
        // If the server does not answer now, the command's own retries decide.
        let asked = try? await withClient { client throws(MongoError) in try client.hello() }
        guard let hello = asked, hello.reply["secondary"] == true, let primary = hello.reply["primary"]?.text,
            primary != hello.reply["me"]?.text
        else { return }
        Console.failure(
            "\(redactedURI) leads to a secondary only, which accepts no writes: add "
                + "replicaSet=\(hello.setName ?? "NAME") to the connection string, without "
                + "directConnection, so that the primary is found",
            .unavailable)
        throw ExitStatus.unavailable
    }

    /// Refuses reads from secondaries of a sharded cluster before MongoDB 8.2, because a secondary may leave out
    /// documents without an error once a read has lasted for 15 minutes (SERVER-87673).
    /// - Throws: ``UsageError``; ``MongoError``.
    func refuseIncompleteReads() async throws {
        let isIncomplete = try await withClient { client throws(MongoError) in
            guard client.mayReadFromSecondaries else { return false }
            let hello = try client.hello(readPreference: .secondaryPreferred)
            return hello.topology == .sharded && hello.maxWireVersion < ServerHello.wireVersionOf82
        }
        guard !isIncomplete else {
            throw UsageError(
                "--read-preference: before MongoDB 8.2, reads from secondaries of a sharded cluster can miss "
                    + "documents without an error (SERVER-87673): use --read-preference primary")
        }
    }
}

extension WorkPlaces {
    /// Creates the list of collections and databases on which a check, or another command that reads documents, needs
    /// privileges.
    init(reading namespaces: [Namespace], state: String? = nil, ledger: LedgerLocation = .none, apps: [String] = []) {
        self.init(state: state)
        add(namespaces, to: .data)
        add(ledger: ledger, apps: apps)
    }

    init(_ job: JobReach, state: String, ledger: LedgerLocation, apps: [String] = []) {
        self.init(state: state)
        add(job, ledger: ledger, apps: apps)
    }

    init(_ partner: Partner, state: String, ledger: LedgerLocation = .none, apps: [String] = []) {
        self.init(state: state)
        add([partner.job.source], to: .data)
        add([partner.job.target], to: .partner)
        if let schema = partner.schemas[.target], !schema.isOfValidator {
            add(ledger: ledger, apps: apps + partner.appIDs)
        }
    }

    /// Adds the collections of a job to this list.
    ///
    /// If the job may make documents unsyncable, also adds the collections of the ledger.
    mutating func add(_ job: JobReach, ledger: LedgerLocation, apps: [String]) {
        add([job.collection], to: .data)
        add(job.lookedUp, to: .lookedUp)
        add(job.indexed, to: .indexed)
        add(job.created, to: .created)
        if job.countsUnsyncable { add(ledger: ledger, apps: apps + job.apps) }
    }

    /// Adds to this list the collections of the ledger that a command reads; adds none if the command reads no ledger.
    mutating func add(ledger: LedgerLocation, apps: [String]) {
        switch ledger {
        case .none: break
        case .named(let namespace): add([namespace], to: .ledger)
        case .standard: add([LedgerFinder.standard] + apps.map(LedgerFinder.ledger(of:)), to: .ledger)
        }
    }
}

extension CheckRun {
    /// The collections and databases on which the user needs privileges for a check of a live deployment.
    var places: WorkPlaces {
        let related = rules.followsLinks ? schema.collections.flatMap { $0.relations.map(\.target) } : []
        return WorkPlaces(
            reading: Set(schema.collections.map(\.namespace) + related).sorted().map { map.target(of: $0) },
            state: stateDatabase,
            ledger: ledger.location, apps: ledger.apps.ids)
    }
}

extension DatabasesCheck {
    /// Returns the collections and databases on which the user needs privileges to check the databases `names`.
    func places(of names: [String]) throws -> WorkPlaces {
        let collections = run.schema.collections.map(\.namespace)
        let all = names.flatMap { name in collections.map { $0.moved(from: own, to: name) } }
        return WorkPlaces(
            reading: all, state: run.stateDatabase, ledger: run.ledger.location, apps: run.ledger.apps.ids)
    }
}
