import BSON
import TestSupport
import Testing

/// Tests that `check` refuses to read from secondaries where the server might leave out documents without an error.
@Suite struct ReadPreferenceTests {
    @Test func secondariesBehindAnOldRouterAreNotRead() async throws {
        let mongod = try await Mongod.shared
        try await mongod.withDatabase { database in
            try await database.fill("person", [["_id": 1, "name": "Ada"]])
            let proxy = try RouterProxy(before: mongod.host)
            defer { proxy.close() }
            let folder = try CommandLineFolder()
            defer { folder.remove() }
            let arguments = try folder.check(database, on: mongod).map { $0 == mongod.uri ? proxy.uri : $0 }
            for mode in ["secondary", "secondaryPreferred", "nearest"] {
                let run = try await Program.run(
                    arguments.map { $0 == proxy.uri ? "\(proxy.uri)?readPreference=\(mode)" : $0 })
                #expect(run.exitCode == 64, "\(mode): \(run.status): \(run.errors)")
                #expect(run.errors.contains("SERVER-87673"), "\(run.errors)")
                #expect(run.output.isEmpty)
            }
            #expect(try await Program.run(arguments).exitCode == 0)
            let direct = try folder.check(database, on: mongod).map {
                $0 == mongod.uri ? "\($0)&readPreference=secondaryPreferred" : $0
            }
            #expect(try await Program.run(direct).exitCode == 0)
        }
    }
}
