import BSON
import Proving
import TestSupport
import Testing

/// Runs random jobs of all kinds of steps over odd documents: the dry run has to say what the run does.
@Suite struct RandomJobsTests {
    private static let seeds = Array(0..<TestScale.pick(24, full: 40, torture: 300))

    @Test(arguments: seeds) func aDryRunSaysWhatTheRunDoes(_ seed: Int) async throws {
        var random = Randomness(seed: UInt64(seed) &* 7_919 &+ 20_261_130)
        var documents = PropertyDocuments(random: random, ids: .numbers)
        documents.repeatsNames = false
        let before = (0..<60).map { documents.fields(after: [("_id", .integer($0))]) }
        let steps = (0..<1 + random.below(4)).map { _ in StepCases.step(&random) }
        try await Mongod.shared.withBackfill { test in
            try await test.database.fill("people", before)
            try await test.database.fill(
                "keys", [["_id": "x", "to": 1], ["_id": 1, "to": "one"], ["_id": "12", "to": nil]])
            try test.job(steps: steps.map { $0.replacing("DATABASE", with: test.database.name) })
            let stored = try await test.database.documents("people")
            let dry = try await test.backfill("job", "--dry-run", "--output", "json")
            #expect(try await test.database.documents("people") == stored, "\(steps)")
            let run = try await test.backfill("job", "--output", "json")
            #expect(
                dry.exitCode == run.exitCode, "\(steps): \(dry.exitCode), \(run.exitCode)\n\(dry.errors)\(run.errors)")
            guard [0, 1].contains(run.exitCode) else {
                // A job that cannot run is refused before the first write.
                #expect(run.exitCode == 65, "\(steps): \(run.errors)")
                #expect(try await test.database.documents("people") == stored, "\(steps)")
                return
            }
            #expect(try Self.changed(dry) == Self.changed(run), "\(steps)\n\(dry.output)\n\(run.output)")
            let after = try await test.database.documents("people")
            let again = try await test.backfill("job", "--output", "json")
            #expect(again.exitCode == run.exitCode, "\(steps): \(again.output)\(again.errors)")
            #expect(try await test.database.documents("people") == after, "\(steps)")
            let undo = try await Program.run([
                "undo", "job", "--yes", "--uri", test.uri, "SHIPSHAPE_STATE_DATABASE=\(test.state.name)",
            ])
            #expect(undo.exitCode == 0, "\(steps): \(undo.output)\(undo.errors)")
            let restored = try await test.database.documents("people")
            for (left, right) in zip(restored, stored) {
                #expect(left.bytes == right.bytes, "\(steps): \(left), \(right)")
            }
        }
    }

    private static func changed(_ run: ProgramRun) throws -> Int {
        guard case .number(let count)? = try JSONValue(run.output)["changed"] else { return -1 }
        return Int(count)
    }
}
