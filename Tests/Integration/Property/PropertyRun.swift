import TestSupport

/// Many cases, a few at once.
struct PropertyRun: Sendable {
    let mongod: Mongod
    /// What the program does wrong on purpose.
    let plant: String?
    /// What happens before the last run of each case; `nil` leaves it to the seed.
    let disturbances: [PropertyDisturbance]?

    /// Runs the cases of these seeds until so many have failed, and says what was wrong with the seed that shows it again.
    func failures(of seeds: [UInt64], atMost limit: Int) async -> [String] {
        await withTaskGroup(of: String?.self) { group in
            var failures: [String] = []
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

    private func failure(of seed: UInt64) async -> String? {
        do {
            try await mongod.withBackfill { test in
                var random = try await PropertyCase(seed: seed, in: test, plant: plant)
                try await random.run(disturbances)
            }
            return nil
        } catch {
            return "SHIPSHAPE_SEED=\(seed): \(error)"
        }
    }
}
