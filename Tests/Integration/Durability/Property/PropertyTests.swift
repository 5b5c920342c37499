import TestSupport
import Testing

/// Tests random jobs over random documents, with users who write at the same time and runners that are killed.
///
/// No write of a user is lost, each document has the job's result or is counted as skipped, and another run changes
/// nothing.
@Suite struct PropertyTests {
    @Test(.timeLimit(.minutes(TestScale.pick(60, full: 60, torture: 600)))) func whateverHappensNothingIsLost()
        async throws
    {
        let first = PropertySettings.first
        let count = PropertySettings.repeated == nil ? PropertySettings.cases : 1
        print("property test: \(count) jobs from seed \(first)")
        let run = PropertyRun(mongod: try await .shared, plant: nil, disturbances: nil)
        let failures = await run.failures(of: (0..<count).map { first + UInt64($0) }, atMost: 3)
        #expect(failures.isEmpty, "\(failures.map(\.description).joined(separator: "\n"))")
    }
}
