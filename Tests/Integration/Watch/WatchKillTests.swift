import BSON
import Foundation
import TestSupport
import Testing

/// Tests a watch with random writes and kills.
///
/// Once the watch has caught up, its ledger has exactly the documents that fail in a full check.
@Suite(.fencedDeletes) struct WatchKillTests {
    @Test func atRestTheLedgerIsWhatAFullCheckFinds() async throws {
        try await Mongod.shared.withWatch { test in
            try await test.database.fill("person", count: 2_000) { number in
                number % 5 == 0 ? ["_id": .integer(number)] : ["_id": .integer(number), "name": "Ada"]
            }
            var random = SystemRandomNumberGenerator()
            let rounds = TestScale.pick(5, full: 10, torture: 100)
            for round in 0..<rounds {
                let fault = Bool.random() ? "any:\(Int.random(in: 1...16)):kill" : nil
                let run = try await Program.run(try test.arguments(), fault: fault) { program in
                    for _ in 0..<10 { try await Self.write(to: test.database, &random) }
                    let mark = BSONValue.integer(10_000 + round)
                    try await test.database.fill("person", [["_id": mark]])
                    try await waitUntil("the watch follows, or is dead") {
                        if program.hasEnded { return true }
                        return try await test.recorded().contains(IDKey(mark))
                    }
                    for _ in 0..<10 { try await Self.write(to: test.database, &random) }
                    // If the fault has not killed the program, the test kills it now, at an arbitrary moment.
                    if !program.hasEnded { program.send(SIGKILL) }
                }
                #expect(run.wasKilled, "round \(round): \(run.errors)")
                try await Self.write(to: test.database, &random)
                try await test.endLease()
            }
            let last = try await test.once()
            #expect([0, 1].contains(last.exitCode), "\(last.errors)")
            let (recorded, failing) = (try await test.recorded(), try await test.failing())
            #expect(!failing.isEmpty)
            #expect(recorded.subtracting(failing) == [], "entries that no check finds")
            #expect(failing.subtracting(recorded) == [], "findings that have no entry")
            FaultTable.note("ledger follow", "kill -9 anywhere", tries: rounds, continued: 0)
        }
    }

    /// Updates, replaces, inserts and deletes random documents.
    private static func write(
        to database: TestDatabase, _ random: inout SystemRandomNumberGenerator
    ) async throws {
        let updates = (0..<40).map { _ -> BSONValue in
            let id = BSONValue.integer(Int.random(in: 0..<2_200, using: &random))
            let change: BSONValue =
                switch Int.random(in: 0..<4, using: &random) {
                case 0: ["$set": ["name": "Bo"]]
                case 1: ["$unset": ["name": 1]]
                case 2: ["_id": id, "name": 7]
                default: ["_id": id, "name": "Cy", "age": 4]
                }
            return ["q": ["_id": id], "u": change, "upsert": true]
        }
        try await database.run(["update": "person", "updates": .array(of: updates)])
        let gone = (0..<10).map { _ in BSONValue.integer(Int.random(in: 0..<2_200, using: &random)) }
        try await database.delete("person", ["_id": ["$in": .array(of: gone)]])
    }
}
