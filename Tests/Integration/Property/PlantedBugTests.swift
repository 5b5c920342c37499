import Mongo
import TestSupport
import Testing

@testable import Backfill

/// The property test is worth what it catches: three mistakes that a debug build makes on purpose.
@Suite struct PlantedBugTests {
    /// What brings each mistake to light, besides a random job over random documents.
    private static func disturbances(showing bug: PlantedBug) -> [PropertyDisturbance] {
        switch bug {
        case .noFence: [.staleRunner]
        case .noNeeds: []
        case .checkpointFirst: [.killedAtAFaultPoint]
        }
    }

    @Test(arguments: PlantedBug.allCases) func aPlantedBugIsCaught(_ bug: PlantedBug) async throws {
        let mongod = try await Mongod.shared
        let run = PropertyRun(mongod: mongod, plant: bug.rawValue, disturbances: Self.disturbances(showing: bug))
        let first = UInt64.random(in: 0...UInt64(UInt32.max))
        let failures = await run.failures(of: (0..<120).map { first + $0 }, atMost: 1)
        #expect(!failures.isEmpty, "120 jobs from seed \(first) do not show it")
        print("planted bug \(bug.rawValue): caught by \(failures.first?.prefix(200) ?? "nothing")")
    }

    /// The same with whatever may happen, as the property test itself runs.
    @Test(.enabled(if: PropertySettings.isFull), arguments: PlantedBug.allCases)
    func aPlantedBugIsCaughtWithoutAHint(_ bug: PlantedBug) async throws {
        let run = PropertyRun(mongod: try await .shared, plant: bug.rawValue, disturbances: nil)
        let first = UInt64.random(in: 0...UInt64(UInt32.max))
        let failures = await run.failures(of: (0..<500).map { first + $0 }, atMost: 1)
        #expect(!failures.isEmpty, "500 jobs from seed \(first) do not show it")
    }
}
