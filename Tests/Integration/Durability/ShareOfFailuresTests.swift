import BSON
import TestSupport
import Testing

/// Tests a run and its undo on a server that fails each of the program's commands with a probability of 15 %.
@Suite struct ShareOfFailuresTests {
    private static let documents = 100

    /// The commands that can fail.
    private static let commands = [
        "find", "aggregate", "getMore", "update", "insert", "delete", "findAndModify", "count", "listCollections",
        "createIndexes", "serverStatus", "replSetGetStatus", "getParameter", "collStats", "connectionStatus", "hello",
    ]

    /// Each failed command reports that the server is shutting down (error 91), but the server keeps running.
    @Test(arguments: [["unset: {field: n}"], ["convert: {field: n, to: string}", "unset: {field: m}"]])
    func aRunAndItsUndoGetThrough(_ steps: [String]) async throws {
        // The test starts a server for itself, because a server has only one fail point for commands at a time.
        let server = try await Mongod.start()
        try await server.withBackfill { test in
            try await test.database.fill("people", count: Self.documents) {
                ["_id": .integer($0), "n": .integer($0), "m": .integer($0)]
            }
            try test.job(steps: steps, limits: "{chunk: {documents: 50}}")
            var point = FailPoint.error(91, appName: test.appName, mode: .probability(0.15))
            point.commands = Self.commands
            let before = try await test.database.documents("people")
            try await test.mongod.failing(point) {
                let run = try await test.backfill()
                #expect(run.exitCode == 0, "\(run.status): \(run.errors)")
                let undone = try await test.undo()
                #expect(undone.exitCode == 0, "\(undone.status): \(undone.errors)")
            }
            #expect(try #require(try await test.checkpoint()).chunks >= Self.documents / 50)
            #expect(try await test.database.documents("people") == before)
        }
    }
}
