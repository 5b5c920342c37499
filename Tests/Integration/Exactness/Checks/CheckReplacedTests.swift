import BSON
import SystemPackage
import TestSupport
import Testing

/// Tests a check whose collection is dropped or renamed during the scan.
///
/// The server then answers a `find` with too few documents instead of an error. The check must not mistake them for the
/// whole collection.
@Suite struct CheckReplacedTests {
    enum Change: CaseIterable { case drop, dropAndCreate, rename, dropDatabase }

    @Test(arguments: Change.allCases) func aCollectionThatIsReplacedInMidScanIsNoVerdict(_ change: Change) async throws
    {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", count: 20_000) { ["_id": .integer($0), "name": "Ada"] }
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let appName = "\(database.name)_replaced"
            let arguments = try folder.check(database, on: mongod, appName: appName)
            var point = FailPoint("find", appName: appName, mode: .times(1))
            point.blockTime = .seconds(5)
            let result = try await mongod.failing(point) {
                async let run = Program.run(arguments)
                try await mongod.waitForCommand("find", of: appName)
                switch change {
                case .drop: try await database.run(["drop": "person"])
                case .dropAndCreate:
                    try await database.run(["drop": "person"])
                    try await database.fill("person", [["_id": 1, "name": "Ada"]])
                case .rename:
                    let name = "\(database.name).person"
                    try await mongod.admin(["renameCollection": .string(name), "to": .string("\(name)s")])
                case .dropDatabase: try await database.run(["dropDatabase": 1])
                }
                return try await run
            }
            #expect(result.exitCode == 75, "\(result.output) \(result.errors)")
            #expect(result.output == "")
            #expect(
                result.errors.contains("\(database.name).person was dropped, renamed or replaced while it was read"))
        }
    }

    @Test func oneMissingCollectionOfSeveralIsPartOfTheVerdict() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": 1, "name": "Ada"]])
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            for name in ["person", "ghost"] {
                try folder.write(CommandLineFolder.person, to: "schemas/\(database.name).\(name).json")
            }
            let result = try await Program.run([
                "check", folder.path.appending("schemas").string, "--uri", mongod.uri, "SHIPSHAPE_LEDGER=none",
            ])
            #expect(result.exitCode == 0, "\(result.errors)")
            #expect(result.output.contains("\(database.name).ghost: 0 documents read\n"))
            #expect(result.output.contains("\n  \(database.name).ghost does not exist: there was nothing to check"))
        }
    }

    @Test func aDatabaseThatIsNotThereIsNotSafe() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let result = try await Program.run(try folder.check(database, on: mongod))
            #expect(result.exitCode == 65)
            #expect(result.output == "")
            #expect(result.errors.contains("no collection of the schema exists"))
        }
    }
}
