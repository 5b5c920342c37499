import BSON
import Mongo
import TestSupport
import Testing

/// `ledger show` reads the ledger and writes nothing.
@Suite struct UnsyncedReadOnlyTests {
    private static func reading(_ database: String) -> BSONValue {
        ["resource": ["db": .string(database), "collection": ""], "actions": ["find", "listCollections"]]
    }

    @Test func aUserWhoMayOnlyReadIsEnough() async throws {
        try await UnsyncedCase.with(try await Mongod.withAuthentication) { test in
            try await test.fill()
            let uri = try await test.mongod.addUser(
                "reader-\(test.database.name)", privileges: [Self.reading(test.database.name)])
            let run = try await test.unsynced(try test.schema() + ["SHIPSHAPE_LEDGER=DB.ledger"], uri: uri)
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.contains("3 still fail, 1 might fail, 2 are stale"), "\(run.output)")
        }
    }

    @Test func aLedgerThatMustNotBeReadIsNotAnEmptyOne() async throws {
        try await UnsyncedCase.with(try await Mongod.withAuthentication) { test in
            try await test.fill()
            let listing: BSONValue = [
                "resource": ["db": .string(test.database.name), "collection": ""], "actions": ["listCollections"],
            ]
            let blind = try await test.mongod.addUser("blind-\(test.database.name)", privileges: [])
            let lister = try await test.mongod.addUser("lister-\(test.database.name)", privileges: [listing])
            for uri in [blind, lister] {
                let run = try await test.unsynced(["SHIPSHAPE_LEDGER=DB.ledger"], uri: uri)
                #expect(run.exitCode == 77, "\(run.output)")
                #expect(run.errors.contains("\(test.database.name).ledger"), "\(run.errors)")
                #expect(run.output == "")
            }
            let anywhere = try await test.unsynced([], uri: blind)
            #expect(anywhere.exitCode == 77, "\(anywhere.output)")
        }
    }

    /// `ledger show` sends no command that writes.
    ///
    /// The test reads the server's profiler, which records every command that reaches the test's database.
    @Test func noCommandThatWritesReachesTheServer() async throws {
        try await UnsyncedCase.with(try await Mongod.shared) { test in
            try await test.fill()
            let appName = "unsynced-\(test.database.name)"
            try await test.database.run(["profile": 2])
            let run = try await test.unsynced(
                try test.schema() + ["SHIPSHAPE_LEDGER=DB.ledger"], uri: test.mongod.uri(appName: appName))
            try await test.database.run(["profile": 0])
            #expect(run.exitCode == 1)
            let seen = try await test.database.documents("system.profile", ["appName": .string(appName)])
            let commands = Set(seen.compactMap { $0["command"]?.document.flatMap { try? $0.elements().first?.name } })
            #expect(!commands.isEmpty)
            #expect(commands.isSubset(of: ["find", "aggregate", "getMore", "listCollections"]), "\(commands)")
            let stages = seen.flatMap { $0["command"]?.document?["pipeline"]?.document?.values ?? [] }
                .compactMap { $0.document.flatMap { try? $0.elements().first?.name } }
            #expect(Set(stages).isSubset(of: ["$match", "$group", "$sort"]), "\(stages)")
        }
    }
}
