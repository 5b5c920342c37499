import BSON
import SystemPackage
import TestSupport
import Testing

/// A collection that goes while it is read: its cursors just end, which must not look like the end of the documents.
@Suite struct CheckReplacedTests {
    @Test(arguments: [false, true]) func aCollectionThatIsReplacedInMidScanIsNoVerdict(_ isCreatedAnew: Bool)
        async throws
    {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", count: 20_000) { ["_id": .integer($0), "name": "Ada"] }
            try await database.run(["profile": 2])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let appName = "\(database.name)_replaced"
            let arguments = try folder.check(database, on: mongod, appName: appName)
            var point = FailPoint("find", appName: appName)
            point.blockTime = .seconds(1)
            let result = try await mongod.failing(point) {
                async let run = CommandLineRun.shipshape(arguments)
                try await waitUntil("the check knows the collection") {
                    try await database.count(
                        "system.profile", ["appName": .string(appName), "command.aggregate": "person"]) > 0
                }
                try await database.run(["drop": "person"])
                if isCreatedAnew { try await database.fill("person", [["_id": 1, "name": "Ada"]]) }
                return try await run
            }
            #expect(result.status == 75, "\(result.output) \(result.errors)")
            #expect(result.output == "")
            #expect(
                result.errors.contains("\(database.name).person was dropped, renamed or replaced while it was read"))
        }
    }

    @Test func oneMissingCollectionOfSeveralIsANote() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": 1, "name": "Ada"]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            for name in ["person", "ghost"] {
                try folder.write(CommandLineFolder.person, to: "schemas/\(database.name).\(name).json")
            }
            let result = try await CommandLineRun.shipshape([
                "check", folder.path.appending("schemas").string, "--uri", mongod.uri, "--ledger", "none",
            ])
            #expect(result.status == 0, "\(result.errors)")
            #expect(result.output.contains("\(database.name).ghost: 0 documents read\n"))
            #expect(result.output.contains("\(database.name).ghost does not exist: there was nothing to check\n"))
        }
    }

    @Test func aDatabaseThatIsNotThereIsNotSafe() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let result = try await CommandLineRun.shipshape(try folder.check(database, on: mongod))
            #expect(result.status == 65)
            #expect(result.output == "")
            #expect(result.errors.contains("no collection of the schema exists"))
        }
    }
}
