import JobState
import TestSupport

/// Many cases, a few of them at once.
struct PropertyRun: Sendable {
    let mongod: Mongod
    /// The bug that the program has on purpose.
    let plant: String?
    /// The disturbances before the last run of each case; `nil` leaves them to the seed.
    let disturbances: [PropertyDisturbance]?

    /// A case that failed.
    struct Failure: Sendable, CustomStringConvertible {
        let kind: PropertyViolation.Kind
        /// The violation, with the seed that reproduces it.
        let description: String
    }

    /// Runs the cases of these seeds until this many have failed, and returns the failures.
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
