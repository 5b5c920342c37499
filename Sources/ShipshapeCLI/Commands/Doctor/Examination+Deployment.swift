internal import BSON
internal import Backfill
internal import Check
internal import Checking
internal import Concurrency
internal import Foundation
internal import Jobs
internal import Mongo
internal import Reporting
internal import Running
internal import Scanning
internal import ServerSchema

extension Examination {
    /// Examines the connection to the deployment and, if it works, the server, the ledger, the state database and the
    /// user's privileges.
    mutating func examineDeployment() async {
        do {
            let pool = try connection.pool()
            name(deployment: pool.redactedURI)
            let facts = try await onOwnedThread(name: "doctor") { () throws in
                try ServerFacts(try pool.client())
            }
            add(
                .deployment, "connection", .good,
                pool.redactedURI + (facts.privileges.map { ", as the user \($0.user)" } ?? ", without a login"))
            examine(facts)
            if isLive { await readLive() }
            await examineStreams(pool, facts)
            await examineLedger(pool)
            await examineState(pool)
            await examinePrivileges(pool, facts)
        } catch {
            add(.deployment, "connection", error)
        }
    }

    private mutating func readLive() async {
        do {
            let live = try await SchemaArgument(argument: LiveSchema.name).read(namespace: nil, connection: connection)
            schema = live
            add(
                .project, "schema", .good,
                "live: \(live.collections.count.counted("collection")) with a validator")
        } catch {
            add(.project, "schema", error)
        }
    }

    private mutating func examine(_ facts: ServerFacts) {
        let version = "MongoDB \(facts.build.version)"
        if facts.build.isAtLeast(5) {
            add(.deployment, "server", .good, version)
        } else if facts.build.isAtLeast(4, 4) {
            add(
                .deployment, "server", .warning,
                "\(version): a check is not of one moment, and watch and partner mirror need 5.0",
                remedy: "upgrade the server, if you need these")
        } else {
            add(
                .deployment, "server", .error, "\(version): shipshape works with 4.4 and later",
                remedy: "upgrade the server")
        }
        switch facts.hello.topology {
        case .standalone:
            add(
                .deployment, "topology", .warning,
                "a standalone server: without a replica set there are no change streams, and no write is durable by a "
                    + "majority", remedy: "make it a replica set of one member (--replSet, then rs.initiate())")
        case .replicaSet:
            let members = facts.hello.reply["hosts"]?.document?.values.count ?? 1
            add(
                .deployment, "topology", .good,
                "the replica set \(facts.hello.setName ?? ""), \(members.counted("member")) with data")
        case .sharded:
            add(
                .deployment, "topology", .good,
                "a sharded cluster: the throttle cannot read the shards' lag, tickets, cache and oplog")
        }
        let apart = facts.clockDifference.seconds
        let text = abs(apart).formatted(.number.precision(.fractionLength(1)).locale(Locale(identifier: "en_US")))
        if abs(apart) < ServerFacts.largestDifference {
            add(.deployment, "clock", .good, "this machine's clock and the server's are \(text) s apart")
        } else {
            add(
                .deployment, "clock", .warning,
                "this machine's clock is \(text) s \(apart > 0 ? "ahead of" : "behind") the server's: times in logs "
                    + "and reports are wrong", remedy: "set the clock of the machine that is wrong, for example by NTP")
        }
    }

    private mutating func examineStreams(_ pool: ClientPool, _ facts: ServerFacts) async {
        guard facts.hello.topology != .standalone else { return }
        do {
            let place = try await Self.readableCollection(on: pool, schema: schema)
            let found = try await onOwnedThread(name: "doctor") { () throws in
                let client = try pool.client()
                return (try place.map { try ServerFacts.streams($0, on: client) }, try OplogSpan.read(on: client))
            }
            switch found.0 {
            case .none: add(.deployment, "change streams", .notice, "not tried: there is no collection yet")
            case .some(nil): add(.deployment, "change streams", .good, "available")
            case .some(let error?):
                add(
                    .deployment, "change streams", .warning,
                    "not available: \(ExitStatus.message(for: error)); a check does not see what changes during its "
                        + "scan")
            }
            examine(found.1, facts)
        } catch let error as MongoError where error.isAuthorization {
            add(.deployment, "change streams", .notice, "not tried: the user is not allowed to read the collections")
        } catch {
            add(.deployment, "change streams", error)
        }
    }

    private mutating func examine(_ oplog: OplogSpan?, _ facts: ServerFacts) {
        guard let oplog else {
            guard facts.hello.topology == .replicaSet else { return }
            return add(
                .deployment, "oplog", .notice, "how far it reaches back cannot be read",
                remedy: "grant the user serverStatus on the cluster")
        }
        let minutes = Int(oplog.window.seconds / 60)
        let time = minutes < 120 ? "\(minutes) min" : "\(minutes / 60) h"
        if oplog.isShort {
            add(
                .deployment, "oplog", .warning,
                "it reaches back \(time): a sync translator, a watch or a mirror that stops for longer starts over",
                remedy: "enlarge it: db.adminCommand({replSetResizeOplog: 1, size: MEGABYTES})")
        } else {
            add(.deployment, "oplog", .good, "it reaches back \(time)\(oplog.isFull ? "" : ", and is not full yet")")
        }
    }

    /// Returns a collection that the user reads: one of the schema if such a collection exists, else any collection;
    /// `nil` if there is none.
    static func readableCollection(on pool: ClientPool, schema: ServerSchema?) async throws -> Namespace? {
        let (wanted, state) = (schema?.collections.map(\.namespace) ?? [], StateDatabase.name)
        return try await onOwnedThread(name: "doctor") { () throws in
            let client = try pool.client()
            if let first = try wanted.first(where: { try client.readableCollection($0) != nil }) { return first }
            for database in try Examination.databases(on: client, state: state) {
                let names = try client.listCollections(
                    of: database, options: ["nameOnly": true, "authorizedCollections": true])
                if let first = names.first(where: { $0.kind == .collection && !$0.name.hasPrefix("system.") }) {
                    return Namespace(database: database, collection: first.name)
                }
            }
            return nil
        }
    }

    /// Returns the databases that the user sees, except the state database and the databases of the server and of the
    /// sync service.
    static func databases(on client: borrowing Client, state: String) throws(MongoError) -> [String] {
        try client.databaseNames().filter { Namespace.refusal(of: $0, stateDatabase: state) == nil }
    }

    private mutating func examineLedger(_ pool: ClientPool) async {
        guard schema?.dialect.isOfSync != false || LedgerPlace.stated != nil, LedgerPlace.location != .none else {
            return add(.state, "ledger", .good, "none is read")
        }
        let (location, scope) = (LedgerPlace.location, LedgerPlace.scope(of: [schema]))
        do {
            let entries = try await onOwnedThread(name: "ledger") { () throws in
                try LedgerReader.open(scope, on: try pool.client())?.entries().entries
            }
            guard let entries else {
                if let error = LedgerScope.missing(location) { return add(.state, "ledger", error) }
                return add(.state, "ledger", .good, "there is none, so no document counts as unsynced")
            }
            let limit = Settings.current[Known.limit]
            let text = "\(entries.entries) of at most \(limit.grouped)"
            if entries >= limit {
                add(.state, "ledger", .error, "\(text): sync has stopped", remedy: "repair the documents that it names")
            } else if entries >= limit / 10 * 9 {
                add(
                    .state, "ledger", .warning, "\(text): sync stops soon",
                    remedy: "shipshape ledger show shows the documents")
            } else {
                add(.state, "ledger", .good, text)
            }
        } catch let error as MongoError where error.isAuthorization {
            add(.state, "ledger", LedgerUnreadable(location.namespace ?? LedgerFinder.standard))
        } catch {
            add(.state, "ledger", error)
        }
    }

    private mutating func examineState(_ pool: ClientPool) async {
        let database = StateDatabase.name
        do {
            let registry = JobRegistry(database, on: pool)
            let jobs = try await onOwnedThread(name: "state") { () throws in try registry.names() }
            add(
                .state, "state database", .good,
                database + (jobs.isEmpty ? ": no job was started yet" : ": \(jobs.count.counted("job"))"))
        } catch let error as MongoError where error.isAuthorization {
            add(
                .state, "state database", .warning, "the user is not allowed to read \(database), which jobs need",
                remedy: "shipshape grants backfill JOB prints the role")
        } catch {
            add(.state, "state database", error)
        }
    }
}
