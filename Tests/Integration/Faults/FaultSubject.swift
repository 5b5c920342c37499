import BSON
import Subprocess
import SystemPackage
import TestSupport
import Testing

/// A command for the fault tests, with its own data.
///
/// A fault must not change the outcome of the command.
struct FaultSubject: Sendable, CustomTestStringConvertible {
    /// The name of the command in the rows that `FaultTable` prints.
    let name: String
    /// Inserts the command's data into the given server, runs a test on the data, and removes the data.
    let trial: @Sendable (Mongod, @Sendable (FaultTrial) async throws -> Void) async throws -> Void

    var testDescription: String { name }
}

/// The arguments and the data with which a test runs a command several times: undisturbed, with a fault, and again.
struct FaultTrial: Sendable {
    /// The command's arguments, without `--uri`.
    let arguments: [String]
    /// The connection string of the server.
    let uri: String
    /// The database of the documents that the command works on.
    let database: TestDatabase
    /// The state database, in which `endLeases` ends the leases of killed runners.
    let state: TestDatabase
    /// Returns the part of the command's result that must be the same in every trial.
    ///
    /// The names of databases differ between trials, so they are left out.
    let outcome: @Sendable (_ last: ProgramRun) async throws -> [BSONDocument]

    /// Runs the command.
    ///
    /// If the command is killed, or its exit code is neither 0 nor 1, its leases are ended, so that the next run does
    /// not have to wait for them.
    /// - Parameter endsLeases: `false` to keep the leases even after a failure.
    func run(
        by uri: String? = nil, _ flags: [String] = [], environment: [Environment.Key: String?] = [:],
        fault: String? = nil, endsLeases: Bool = true, during: (LiveProgram) async throws -> Void = { _ in }
    ) async throws -> ProgramRun {
        let run = try await Program.run(
            arguments + flags + ["--uri", uri ?? self.uri], environment: environment, fault: fault, during: during
        )
        if ![0, 1].contains(run.exitCode), endsLeases { try await endLeases() }
        return run
    }

    /// Ends all leases as if their time were over.
    ///
    /// The transactions of killed mirrors lock the documents that contain the leases, so these transactions are ended
    /// first.
    func endLeases() async throws {
        try await state.endDeadTransactions()
        for collection in ["ranges", "streams"] {
            let update: BSONValue = [
                "q": ["lease": ["$exists": true]], "u": ["$set": ["lease.end": .date(milliseconds: 0)]], "multi": true,
            ]
            try await state.run(["update": .string(collection), "updates": [update]])
        }
    }

    /// Runs the command without a fault, and returns its outcome.
    func undisturbed() async throws -> [BSONDocument] {
        let run = try await run()
        #expect([0, 1].contains(run.exitCode), "\(run.status): \(run.errors)")
        return try await outcome(run)
    }
}

extension FaultSubject {
    /// The commands that the fault tests run.
    static let all = [backfill, clientBackfill, undo, folder, enforce, partnerInit, mirror, watch, check, infer]

    // MARK: Commands on jobs

    /// A backfill of ten documents, in chunks of four; the job's step is one that can make documents unsyncable.
    static let backfill = backfill(of: 10)

    /// Returns the command `backfill` over this many documents.
    static func backfill(of count: Int) -> FaultSubject {
        job("backfill") { try await prepareUnsyncable($0, count: count) }
    }

    /// Inserts documents, and writes the file of a job whose step can make these documents unsyncable.
    static func prepareUnsyncable(_ test: BackfillCase, count: Int = 10) async throws {
        try await test.database.fill("tasks", count: count) {
            ["_id": .integer($0), "priority": .string("\($0)"), "free": .integer($0)]
        }
        try BudgetCase.writeSchemas(retyping: "priority", in: test)
        try test.job(
            on: "tasks", steps: ["convert: {field: priority, to: int}"], limits: "{chunk: {documents: 4}}",
            more: "schema: {active: active.json, next: next.json}")
    }

    /// A backfill whose values the client computes, and which also inserts documents into another collection.
    static let clientBackfill = job("backfill by the client") { test in
        try await test.database.fill("tasks", count: 10) { number in
            [
                "_id": .integer(number), "key": .string("0f0e0d0c-0b0a-0908-0706-05040302010\(number)"),
                "home": ["key": .integer(number / 2), "city": .integer(number / 2)],
            ]
        }
        try test.job(
            on: "tasks",
            steps: [
                "convert: {field: key, to: uuid}",
                "extract: {field: home, to: \(test.database.name).homes, idFrom: key}",
            ],
            limits: "{chunk: {documents: 4}}")
    }

    /// The undo of the job that `backfill` runs.
    static let undo = undo(of: 10)

    /// Returns the command `undo` for the job that `backfill(of:)` runs over this many documents.
    static func undo(of count: Int) -> FaultSubject {
        FaultSubject(name: "undo") { mongod, body in
            try await backfill(of: count).trial(mongod) { forth in
                _ = try await forth.undisturbed()
                let arguments = ["undo"] + forth.arguments.dropFirst()
                try await body(
                    FaultTrial(
                        arguments: arguments, uri: forth.uri, database: forth.database, state: forth.state
                    ) { last in
                        try await forth.outcome(last).filter { $0["free"] != nil }
                    })
            }
        }
    }

    private static func job(
        _ name: String, _ prepare: @Sendable @escaping (BackfillCase) async throws -> Void
    ) -> FaultSubject {
        FaultSubject(name: name) { mongod, body in
            try await mongod.withBackfill { test in
                try await prepare(test)
                let arguments = [
                    "backfill", test.path(), "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "--yes",
                    "SHIPSHAPE_LEDGER=none",
                    "--allow-unsync", "1000", "SHIPSHAPE_LEASE_TTL=60s", "SHIPSHAPE_LEASE_WAIT=30s",
                ]
                try await body(
                    FaultTrial(arguments: arguments, uri: test.uri, database: test.database, state: test.state) { _ in
                        let ranges = try await test.state.documents("ranges").map { range in
                            BSONDocument(["pass", "state", "last", "upper"].map { ($0, range[$0] ?? .null) })
                        }
                        let harm = try await test.state.documents("harm").map { record in
                            BSONDocument([
                                ("id", record["_id"]?.document?["id"] ?? .null), ("seen", record["seen"] ?? .null),
                            ])
                        }
                        return try await test.database.documents("tasks") + test.database.documents("homes")
                            + ranges + harm
                    })
            }
        }
    }

    /// A `backfill` that runs a folder of two jobs in order.
    static let folder = FaultSubject(name: "backfill FOLDER") { mongod, body in
        try await mongod.withBackfill { test in
            try await test.database.fill("people", count: 12) { ["_id": .integer($0), "age": .integer($0)] }
            let limits = "{chunk: {documents: 5}}"
            try test.job("1-email", steps: [#"default: {field: email, value: ""}"#], limits: limits)
            try test.job("2-years", steps: ["copy: {from: age, to: years}"], limits: limits)
            let arguments = [
                "backfill", test.folder.string, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "--yes",
                "SHIPSHAPE_LEASE_TTL=60s",
            ]
            try await body(
                FaultTrial(arguments: arguments, uri: test.uri, database: test.database, state: test.state) { _ in
                    // The last column is left out, because it shows whether the job file has changed since the job was
                    // applied.
                    let rows = try await test.folderRows().map { row in
                        BSONDocument(row.dropLast().enumerated().map { ("\($0)", .string($1)) })
                    }
                    return try await test.database.documents("people") + rows
                })
        }
    }

    /// An `enforce` that replaces the enforced validator by another one.
    static let enforce = FaultSubject(name: "enforce") { mongod, body in
        try await mongod.withBackfill { test in
            try await test.preparePath(under: BackfillCase.earlier)
            let arguments = [
                "enforce", test.folder.appending("validator.json").string, "--collection",
                "\(test.database.name).people", "SHIPSHAPE_STATE_DATABASE=\(test.state.name)", "--yes",
            ]
            try await body(
                FaultTrial(arguments: arguments, uri: test.uri, database: test.database, state: test.state) { _ in
                    let isThere = try await test.isEnforced("error")
                    return try await test.database.documents("people") + [["enforced": .bool(isThere)]]
                })
        }
    }

    // MARK: Partner commands and `ledger follow`

    /// A `partner init`, which creates and fills a partner collection.
    static let partnerInit = FaultSubject(name: "partner init") { mongod, body in
        try await mongod.withPartner { test in
            try test.job()
            try await test.load(10)
            try await body(test.trial("init", "--yes"))
        }
    }

    /// A `partner mirror --once`, which carries the changes of the original collection over to the partner collection,
    /// and the other way round.
    static let mirror = FaultSubject(name: "partner mirror --once") { mongod, body in
        try await mongod.withPartner { test in
            try test.job()
            try await test.load(10)
            try #require(try await test.run("init").exitCode == 0)
            for number in 0..<3 {
                let source: BSONDocument = ["_id": .objectID(PartnerCase.id(number))]
                try await test.database.update("Task", source, ["$set": ["title": "changed"]])
                let target: BSONDocument = ["_id": .string("\(PartnerCase.id(number + 3))")]
                try await test.database.update("TaskV2", target, ["$set": ["priority": "4"]])
            }
            try await test.database.delete("Task", ["_id": .objectID(PartnerCase.id(7))])
            try await body(test.trial("mirror", "--once"))
        }
    }

    /// A `ledger follow --once` over changes that were made after an earlier run created its ledger.
    static let watch = FaultSubject(name: "ledger follow --once") { mongod, body in
        try await mongod.withWatch { test in
            try await test.database.fill("person", count: 12) { number in
                number % 3 == 0 ? ["_id": .integer(number)] : ["_id": .integer(number), "name": "Ada"]
            }
            try await test.once()
            try await test.database.update("person", ["_id": 1], ["$unset": ["name": 1]])
            try await test.database.update("person", ["_id": 3], ["$set": ["name": "Bo"]])
            try await test.database.delete("person", ["_id": 6])
            let arguments = try test.arguments(["--once"])
            try await body(
                FaultTrial(
                    arguments: without("--uri", arguments), uri: test.uri, database: test.database, state: test.state
                ) { _ in
                    try await test.recorded().map(\.value).sorted { "\($0)" < "\($1)" }.map { ["recorded": $0] }
                })
        }
    }

    // MARK: Commands that only read

    /// A `check` of documents, some of which do not fit the schema.
    static let check = check(of: 400)

    /// Returns the command `check` over this many documents.
    /// - Parameter flags: flags of `check` in addition to those of every trial.
    static func check(of count: Int, _ flags: String...) -> FaultSubject {
        reading("check", count: count) { test, folder in
            let arguments = try folder.check(test, on: try await Mongod.shared) + ["-o", "json"] + flags
            return (
                without("--uri", arguments),
                { run in
                    let report = try BSONDocument(extendedJSON: run.output)
                    let collections = report["collections"]?.document?.values.compactMap(\.document) ?? []
                    return collections.map { collection in
                        BSONDocument(["documents_read", "failing", "groups"].map { ($0, collection[$0] ?? .null) })
                    }
                }
            )
        }
    }

    /// The command `schema infer`, which proposes a schema.
    static let infer = reading("schema infer") { test, _ in
        (["schema", "infer", "--collection", "\(test.name).person"], { run in [["schema": .string(run.output)]] })
    }

    private static func reading(
        _ name: String, count: Int = 400,
        _ make:
            @Sendable @escaping (TestDatabase, CommandLineFolder) async throws -> (
                arguments: [String], outcome: @Sendable (ProgramRun) throws -> [BSONDocument]
            )
    ) -> FaultSubject {
        FaultSubject(name: name) { mongod, body in
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            try await mongod.withDatabase { database in
                try await database.fill("person", count: count) { number in
                    ["_id": .integer(number), "name": number % 7 == 0 ? .integer(number) : "Ada"]
                }
                let (arguments, outcome) = try await make(database, folder)
                try await body(
                    FaultTrial(
                        arguments: arguments, uri: mongod.uri(appName: database.name), database: database,
                        state: database
                    ) {
                        try outcome($0) + (try await database.documents("person"))
                    })
            }
        }
    }

    /// Returns the arguments without a flag and its value.
    ///
    /// Returns all arguments if the flag is not among them.
    fileprivate static func without(_ flag: String, _ arguments: [String]) -> [String] {
        guard let index = arguments.firstIndex(of: flag) else { return arguments }
        return Array(arguments[..<index] + arguments[(index + 2)...])
    }
}

extension PartnerCase {
    /// Returns the trial of `partner COMMAND`.
    ///
    /// The outcome includes how many documents differ between the original collection and the partner collection.
    fileprivate func trial(_ command: String, _ flag: String) -> FaultTrial {
        let arguments = [
            "partner", command, folder.path.appending("tasks.yml").string, "SHIPSHAPE_STATE_DATABASE=\(state.name)",
            "SHIPSHAPE_LEASE_TTL=60s", flag,
        ]
        return FaultTrial(arguments: arguments, uri: uri, database: database, state: state) { [self] _ in
            try await database.documents("Task") + partners()
                + [["differences": try await differences()["difference_count"] ?? .null]]
        }
    }
}
