import BSON
import Checking
import Mongo
import Scanning
import TestSupport
import Testing

/// Tests that a check without a guarantee, such as a point-in-time result, still checks the documents, and reports the
/// missing guarantee.
@Suite struct CheckGuaranteeTests {
    @Test func withoutThePrivilegeTheMomentIsNotStated() async throws {
        let mongod = try await Mongod.withAuthentication
        try await mongod.withDatabase { database in
            let people = try await ChangingPeople(database, count: 700)
            let all: BSONValue = ["db": .string(database.name), "collection": ""]
            let uri = try await mongod.addUser(
                "\(database.name)-reader",
                privileges: [["resource": all, "actions": ["find", "listCollections", "collStats"]]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let schema = try folder.write(ChangingPeople.schema, to: "person.json")
            let run = try await Program.run([
                "check", schema, "--collection", "\(people.namespace)", "--uri", uri, "SHIPSHAPE_LEDGER=none",
            ])
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.contains(".person: 700 documents read, "))
            #expect(
                run.output.contains(
                    "Not a point-in-time result: the user lacks the privilege changeStream on "
                        + "\(people.namespace).\n"))
            #expect(!run.output.contains("Consistent as of "))
        }
    }

    @Test func theRightToFindIsEnough() async throws {
        let mongod = try await Mongod.withAuthentication
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": 1, "name": 5]])
            let person: BSONValue = ["db": .string(database.name), "collection": "person"]
            let uri = try await mongod.addUser(
                "\(database.name)-finder", privileges: [["resource": person, "actions": ["find"]]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let arguments = try folder.check(database, on: mongod).map { $0 == mongod.uri ? uri : $0 }
            let run = try await Program.run(arguments + ["--count-groups", "SHIPSHAPE_PREFILTER=true"])
            #expect(run.exitCode == 1, "\(run.errors)")
            #expect(run.output.contains(".person: 1 document read, 1 (100%) does not sync"), "\(run.output)")
            #expect(
                run.output.contains(
                    "The collection might have been replaced during the check: the user lacks the privilege "
                        + "listCollections on its database.\n"))
        }
    }

    @Test(.server(from: 5, for: "reads of one moment"), arguments: ["local", "majority"])
    func theConnectionStringsReadConcernIsNoHindrance(_ level: String) async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": 1, "name": "Ada"]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let uri = mongod.uri + "&readConcernLevel=\(level)"
            let run = try await Program.run(
                try folder.check(database, on: mongod).map { $0 == mongod.uri ? uri : $0 })
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.contains(", consistent as of "))
            #expect(!run.output.contains("Not a point-in-time result"))
        }
    }

    @Test func onAStandaloneTheTimeIsNotStated() async throws {
        let mongod = try await Mongod.start(.standalone)
        try await mongod.withDatabase { database in
            let people = try await ChangingPeople(database, count: 700)
            let result = try await people.scan(try people.options(threads: 2))
            #expect(result.tally.counts.read == 700)
            #expect(result.clusterTime == nil)
            #expect(result.missing.map(\.guarantee) == [.oneMoment])
            #expect(result.missing.first?.reason.contains("not a member of a replica set") == true)
        }
    }

    @Test func aStreamThatTheServerRefusesIsNoEnd() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            let people = try await ChangingPeople(database, count: 700)
            // Error 286: the oplog no longer has the entries that the change stream needs.
            let point = FailPoint.error(286, "aggregate", appName: database.appName, mode: .times(1))
            let result = try await mongod.failing(point) { try await people.scan(try people.options()) }
            #expect(result.tally.counts.read == 700)
            #expect(result.missing.map(\.guarantee) == [.oneMoment])
            #expect(result.missing.first?.reason.contains("oplog") == true)
        }
    }

    @Test func aStepDownIsRetriedByAllOfIt() async throws {
        let mongod = try await Mongod.start()
        try await mongod.withDatabase { database in
            let people = try await ChangingPeople(database)
            let pool = database.pool
            let result = try await people.scan(try people.options(threads: 2)) { collection in
                for id in 0..<100 { try ChangeKind.allCases[id % 10].apply(to: id * 200, collection) }
                let client = try pool.client()
                try client.runCommand(
                    ["replSetStepDown": 3, "secondaryCatchUpPeriodSecs": 0, "force": true], on: "admin")
                while try !client.hello(readPreference: .nearest).isWritablePrimary {}
                for id in 100..<200 { try ChangeKind.allCases[id % 10].apply(to: id * 100 + 1, collection) }
            }
            let after = try await people.scan(try people.options())
            #expect(TallyDigest(result.tally) == TallyDigest(after.tally))
            try await result.expectOneMoment()
        }
    }
}

extension CheckGuaranteeTests {
    @Test func withoutATemporaryFileTheMomentIsNotStated() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            let people = try await ChangingPeople(database, count: 3_000)
            var options = try people.options()
            options.seenInMemory = 100
            options.temporaryFolder = "/nonexistent"
            let result = try await people.scan(options) { collection in
                try ChangeKind.delete.apply(to: 5, collection)
            }
            #expect(result.tally.counts.read == 3_000)
            #expect(result.clusterTime == nil)
            #expect(result.missing.first?.reason.contains("temporary file") == true)
        }
    }
}
