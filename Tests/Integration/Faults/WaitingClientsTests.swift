import BSON
import Glibc
import Synchronization
import TestSupport
import Testing

/// Clients write the documents of a job while a runner is killed, or while another client changes the collection.
///
/// No client waits for long, and no write of a client is lost.
@Suite struct WaitingClientsTests {
    private static let documents = 60

    /// The longest time that an update of a client may take.
    private static let longest = Duration.seconds(5)

    private func withPeople(
        limits: String = "{chunk: {documents: 10}}", on mongod: Mongod? = nil,
        _ body: (BackfillCase) async throws -> Void
    ) async throws {
        let shared = try await Mongod.shared
        try await (mongod ?? shared).withBackfill { test in
            // With only one other field, the evidence that a document is still the same would change with each visit.
            try await test.database.fill("people", count: Self.documents) {
                ["_id": .integer($0), "visits": 0, "name": "Ada", "city": "Oslo", "born": .integer(1900 + $0)]
            }
            try test.job(steps: ["default: {field: s, value: 0}"], limits: limits)
            try await body(test)
        }
    }

    /// Expects that each document has the job's field or that no document has it, and that no visit is lost.
    private func expectDocuments(_ test: BackfillCase, done isDone: Bool, _ clients: VisitingClients) async throws {
        let found = try await test.database.documents("people")
        #expect(found.count == Self.documents)
        #expect(found.count { $0["s"] == 0 } == (isDone ? Self.documents : 0))
        #expect(found.reduce(0) { $0 + ($1["visits"]?.integer ?? 0) } == clients.visits)
    }

    private static let waiting = ["SHIPSHAPE_LEASE_TTL=20s", "SHIPSHAPE_LEASE_WAIT=60s", "SHIPSHAPE_LEDGER=none"]

    // MARK: A killed runner

    /// The commands of which one is killed, the fault points at which it is killed, and the commands that run next.
    private static let kills: [(String, String, String)] = {
        let inRun = ["before-write:3", "after-write:3", "before-commit:3", "after-journal:3", "after-checkpoint:3"]
        let rest = ["before-state-write:9", "after-state-write:9"]
        let inUndo = ["before-write:2", "before-commit:2", "after-restore:2"]
        let some =
            inRun.map { ("backfill", $0, "backfill") } + inUndo.map { ("undo", $0, "undo") }
            + [("backfill", "before-commit:2", "undo"), ("backfill", "after-journal:2", "undo")]
        return TestScale.pick(
            some, full: some + rest.map { ("backfill", $0, "undo") } + inRun.map { ("backfill", $0, "undo") },
            torture: some + rest.map { ("backfill", $0, "backfill") } + rest.map { ("undo", $0, "undo") })
    }()

    @Test(arguments: kills) func aKilledRunnerHoldsNoDocumentForLong(
        _ command: String, _ point: String, _ next: String
    ) async throws {
        try await withPeople { test in
            let clients = VisitingClients(test.database, documents: Self.documents, pause: .milliseconds(3))
            if command == "undo" { #expect(try await test.backfill().exitCode == 0) }
            try await clients.visit {
                let flags = ["SHIPSHAPE_LEASE_TTL=4s"]
                let killed =
                    command == "undo"
                    ? try await test.undo(flags: flags, fault: "\(point):kill")
                    : try await test.backfill(flags: flags, fault: "\(point):kill")
                #expect(killed.wasKilled, "no \(command) comes to \(point): \(killed.status) \(killed.errors)")
                let second =
                    next == "undo"
                    ? try await test.undo(flags: Self.waiting) : try await test.backfill(flags: Self.waiting)
                #expect(second.exitCode == 0, "\(second.status): \(second.output)\(second.errors)")
            }
            #expect(clients.longest < Self.longest)
            try await expectDocuments(test, done: next == "backfill", clients)
        }
    }

    /// The next runner logs in as another user, who has the privilege to end the sessions of all users.
    @Test func anotherUserWithThePrivilegeEndsTheSessionsOfAKilledRunner() async throws {
        let mongod = try await Mongod.withAuthentication
        try await withPeople(on: mongod) { test in
            let roles = [test.database.name, test.state.name].map { database -> BSONValue in
                ["role": "readWrite", "db": .string(database)]
            }
            let role = "sessions-\(test.database.name)"
            try await mongod.admin([
                "createRole": .string(role), "roles": [],
                "privileges": [["resource": ["cluster": true], "actions": ["killAnySession"]]],
            ])
            let first = try await mongod.addUser("first-\(test.database.name)", roles: roles)
            let second = try await mongod.addUser("second-\(test.database.name)", roles: roles + [.string(role)])
            let clients = VisitingClients(test.database, documents: Self.documents, pause: .milliseconds(3))
            try await clients.visit {
                let killed = try await test.backfill(
                    flags: ["SHIPSHAPE_LEASE_TTL=4s", "SHIPSHAPE_LEDGER=none"], uri: first,
                    fault: "before-commit:3:kill")
                #expect(killed.wasKilled, "\(killed.status): \(killed.errors)")
                let next = try await test.backfill(flags: Self.waiting, uri: second)
                #expect(next.exitCode == 0, "\(next.status): \(next.errors)")
            }
            #expect(clients.longest < Self.longest)
            try await expectDocuments(test, done: true, clients)
        }
    }

    // MARK: Documents that clients write all the time

    @Test(arguments: ["{}", "{chunk: {documents: 1000}}", "{chunk: {documents: 1}}"])
    func aJobOverDocumentsThatAreAllHotEnds(_ limits: String) async throws {
        try await withPeople(limits: limits) { test in
            let clients = VisitingClients(test.database, documents: Self.documents)
            try await clients.visit {
                let run = try await test.backfill("job", "--output", "json")
                #expect(run.exitCode == 0, "\(run.status): \(run.errors)")
                #expect(try test.report(run)["changed"]?.integer == Self.documents)
            }
            try await expectDocuments(test, done: true, clients)
            try await clients.visit {
                let undone = try await test.undo(flags: ["--output", "json"])
                #expect(undone.exitCode == 0, "\(undone.status): \(undone.errors)")
                #expect(try test.report(undone)["restored"]?.integer == Self.documents)
            }
            try await expectDocuments(test, done: false, clients)
            #expect(clients.longest < Self.longest)
        }
    }

    @Test func transactionsOfClientsOverTheSameDocumentsAreKept() async throws {
        try await withPeople { test in
            let clients = VisitingClients(test.database, documents: Self.documents)
            try await clients.visit(inTransactions: true) {
                let run = try await test.backfill()
                #expect(run.exitCode == 0, "\(run.status): \(run.errors)")
                let undone = try await test.undo(flags: ["--output", "json"])
                #expect(undone.exitCode == 0, "\(undone.status): \(undone.errors)")
                #expect(try test.report(undone)["restored"]?.integer == Self.documents)
            }
            #expect(clients.visits > 0)
            #expect(clients.longest < Self.longest)
            try await expectDocuments(test, done: false, clients)
        }
    }

    // MARK: Changes of the collection

    private static let changes: [BSONDocument] = [
        ["createIndexes": "people", "indexes": [["key": ["visits": 1], "name": "visits"]]],
        ["collMod": "people", "validator": ["visits": ["$type": "int"]]],
    ]

    /// Sends a command that changes the collection, and runs `body` as soon as the server has begun or finished it.
    private func changing(
        _ change: BSONDocument, _ test: BackfillCase, _ body: () async throws -> Void
    ) async throws {
        let isDone = Atomic(false)
        let name = try #require(try change.elements().first?.name)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await test.database.run(change) }
            try await waitUntil("\(name) has begun") {
                if isDone.load(ordering: .relaxed) { return true }
                let reply = try await test.mongod.admin([
                    "aggregate": 1, "cursor": [:],
                    "pipeline": [
                        ["$currentOp": [:]],
                        ["$match": ["appName": .string(test.database.appName), "command.\(name)": "people"]],
                    ],
                ])
                if reply["cursor"]?.document?["firstBatch"]?.document?.values.isEmpty == false { return true }
                return try await isChanged(name, test)
            }
            try await body()
            try await group.waitForAll()
        }
    }

    /// Whether the index or the validator of ``changes`` exists.
    private func isChanged(_ name: String, _ test: BackfillCase) async throws -> Bool {
        guard name == "collMod" else {
            let reply = try await test.database.run(["listIndexes": "people"])
            return (reply["cursor"]?.document?["firstBatch"]?.document?.values.count ?? 0) > 1
        }
        let reply = try await test.database.run(["listCollections": 1, "filter": ["name": "people"]])
        let collection = reply["cursor"]?.document?["firstBatch"]?.document?.values.first?.document
        return collection?["options"]?.document?["validator"] != nil
    }

    /// Another client changes the collection while a chunk is planned or written, and not yet committed.
    @Test(arguments: changes, ["before-write:2:stop", "before-commit:2:stop"])
    func aChangeOfTheCollectionDuringAChunkEndsNoRun(_ change: BSONDocument, _ place: String) async throws {
        try await withPeople { test in
            let flags = ["--output", "json", "SHIPSHAPE_LEASE_TTL=60s"]
            let run = try await test.backfill(flags: flags, fault: place) { program in
                #expect(try await program.waitForStop(), "no run comes to \(place)")
                try await changing(change, test) { program.send(SIGCONT) }
            }
            #expect(run.exitCode == 0, "\(run.status): \(run.errors)")
            #expect(try test.report(run)["changed"]?.integer == Self.documents)
            let undone = try await test.undo(flags: ["--output", "json"])
            #expect(undone.exitCode == 0, "\(undone.status): \(undone.errors)")
            #expect(try test.report(undone)["restored"]?.integer == Self.documents)
        }
    }

    @Test(arguments: changes, ["after-journal:3:kill", "before-commit:3:kill"])
    func aChangeOfTheCollectionAfterAKillHoldsNoClientForLong(_ change: BSONDocument, _ fault: String) async throws {
        try await withPeople { test in
            let clients = VisitingClients(test.database, documents: Self.documents, pause: .milliseconds(3))
            try await clients.visit {
                let killed = try await test.backfill(flags: ["SHIPSHAPE_LEASE_TTL=4s"], fault: fault)
                #expect(killed.wasKilled, "no run comes to \(fault): \(killed.status) \(killed.errors)")
                try await changing(change, test) {
                    let next = try await test.backfill(flags: Self.waiting)
                    #expect(next.exitCode == 0, "\(next.status): \(next.errors)")
                }
            }
            #expect(clients.longest < Self.longest)
            try await expectDocuments(test, done: true, clients)
        }
    }
}
