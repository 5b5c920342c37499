import TestSupport
import Testing

/// Tests random jobs that are killed and then undone while users delete, replace and insert documents.
///
/// The change events show that neither a run nor undo removes a change of a user, and that undo lists the documents
/// that it does not restore.
@Suite struct UndoEventsTests {
    @Test(
        .timeLimit(.minutes(TestScale.pick(60, full: 60, torture: 600))),
        .server(from: 6, for: "change events with the images by which the writes are judged"))
    func undoTakesOnlyWhatIsTheJobs() async throws {
        let first = PropertySettings.first
        let count = PropertySettings.repeated == nil ? PropertySettings.eventCases : 1
        let mongod = try await Mongod.shared
        var sum = UndoEventsCase.Result()
        for seed in (0..<count).map({ first + UInt64($0) }) where sum.violations.count < 3 {
            do {
                let result = try await mongod.withBackfill { test in
                    var one = try await UndoEventsCase(seed: seed, in: test, documents: 500)
                    return try await one.run()
                }
                sum.events += result.events
                sum.written += result.written
                sum.restored += result.restored
                sum.named += result.named
                sum.chances += result.chances
                sum.violations += result.violations.prefix(3).map { "SHIPSHAPE_SEED=\(seed): \($0)" }
            } catch {
                sum.violations.append("SHIPSHAPE_SEED=\(seed): \(error)")
            }
        }
        print(
            "undo events: \(sum.events) in \(count) jobs from seed \(first), \(sum.written) by runs, \(sum.restored) "
                + "by undos, \(sum.named) documents named, \(sum.chances) changes back to what users had left as the "
                + "job did"
        )
        #expect(sum.restored > 0)
        #expect(sum.violations.isEmpty, "\(sum.violations.joined(separator: "\n"))")
    }
}
