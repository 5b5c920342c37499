import Concurrency
import Mongo
import TestSupport
import Testing

@testable import JobState
@testable import Jobs

/// Tests that the property test finds each of two bugs that the program can inject into itself.
@Suite struct PlantedBugTests {
    /// The bugs that random disturbances reveal; only an election reveals the other one, in `FencedRunTests`.
    private static let bugs = [FaultInjection.Bug.noNeeds, .journalOutside]

    /// Returns the kind of violation that the property test must find for a bug.
    private static func violation(by bug: FaultInjection.Bug) -> PropertyViolation.Kind {
        switch bug {
        case .noNeeds: .document
        case .noSequence, .journalOutside: .acknowledged
        }
    }

    /// Returns the disturbances, such as a killed run, that reveal a bug; empty if a random job over random documents
    /// is enough.
    private static func disturbances(showing bug: FaultInjection.Bug) -> [PropertyDisturbance] {
        switch bug {
        case .noNeeds: []
        case .noSequence, .journalOutside: [.killedAtAFaultPoint]
        }
    }

    /// Returns the seed of a case that revealed a bug.
    ///
    /// The test tries this seed first, because with other seeds it may take many cases to reveal the bug. If the case
    /// does not reveal the bug any more, the test prints the seed of another one, to be written here.
    private static func seed(showing bug: FaultInjection.Bug) -> UInt64 {
        switch bug {
        case .noNeeds: 3_080_617_001
        case .noSequence, .journalOutside: 3_080_617_019
        }
    }

    @Test(arguments: bugs) func aPlantedBugIsCaught(_ bug: FaultInjection.Bug) async throws {
        try await expectCaught(bug, by: Self.disturbances(showing: bug), first: [Self.seed(showing: bug)])
    }

    /// Tests each bug with random disturbances and without a known seed, as the property test itself runs.
    ///
    /// Some bugs take more than a hundred cases.
    @Test(.enabled(if: TestScale.current == .torture), arguments: bugs)
    func aPlantedBugIsCaughtWithoutAHint(_ bug: FaultInjection.Bug) async throws {
        try await expectCaught(bug, by: nil, first: [])
    }

    private func expectCaught(
        _ bug: FaultInjection.Bug, by disturbances: [PropertyDisturbance]?, first known: [UInt64]
    ) async throws {
        let run = PropertyRun(mongod: try await .shared, plant: bug.rawValue, disturbances: disturbances)
        let first = PropertySettings.first
        var failures = await run.failures(of: known, atMost: 1)
        if failures.isEmpty { failures = await run.failures(of: (0..<500).map { first + $0 }, atMost: 1) }
        #expect(
            failures.contains { $0.kind == Self.violation(by: bug) },
            "500 jobs from seed \(first): \(failures.map(\.description).joined(separator: "\n"))")
        print("\(bug) is caught by \(failures.first?.description.prefix { $0 != ":" } ?? "nothing")")
    }
}
