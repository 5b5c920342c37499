import JobState
import TestSupport

/// Runs many random cases, a few of them at the same time.
struct PropertyRun: Sendable {
    let mongod: Mongod
    /// The name of the bug that the program injects into itself; `nil` for none.
    let plant: String?
    /// The events that disturb the job before its last run in each case, such as a kill or the writes of a user.
    ///
    /// If `nil`, each case chooses them at random, by its seed.
    let disturbances: [PropertyDisturbance]?

    /// A case that failed.
    struct Failure: Sendable, CustomStringConvertible {
        let kind: PropertyViolation.Kind
        /// The violation that the case found, with the seed that reproduces it.
        let description: String
    }

    /// Runs a case for each seed, and returns the failures; empty if there are none.
    ///
    /// Once `limit` cases have failed, no further case begins. The cases that already run may fail too.
    func failures(of seeds: [UInt64], atMost limit: Int) async -> [Failure] {
        await withTaskGroup(of: Failure?.self) { group in
            var failures: [Failure] = []
            for (index, seed) in seeds.enumerated() where failures.count < limit {
                if index >= PropertySettings.atOnce, let failure = await group.next() ?? nil {
                    failures.append(failure)
                }
                guard failures.count < limit else { break }
                group.addTask { await failure(of: seed) }
            }
            while let failure = await group.next() { if let failure { failures.append(failure) } }
            return failures
        }
    }

    private func failure(of seed: UInt64) async -> Failure? {
        do {
            try await mongod.withBackfill { test in
                var random = try await PropertyCase(seed: seed, in: test, plant: plant)
                try await random.run(disturbances)
            }
            return nil
        } catch {
            let kind = (error as? PropertyViolation)?.kind ?? .ending
            return Failure(kind: kind, description: "SHIPSHAPE_SEED=\(seed): \(error)")
        }
    }
}
