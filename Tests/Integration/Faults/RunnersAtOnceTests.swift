import BSON
import TestSupport
import Testing

/// Tests that several runners that begin the same job at the same time leave the same documents as one runner.
///
/// A runner that cannot get the job's lease ends with exit code 76.
@Suite struct RunnersAtOnceTests {
    private static let counts = TestScale.pick([4], full: [2, 4, 8], torture: [2, 4, 8])
    private static let times = TestScale.pick(1, full: 2, torture: 100)

    /// Starts this many runs at once, and returns them in the order in which they ended.
    ///
    /// - Parameter flags: returns the flags of a run by the run's number, which begins at 1.
    private func run(_ count: Int, _ trial: FaultTrial, _ flags: @Sendable @escaping (Int) -> [String]) async throws
        -> [ProgramRun]
    {
        try await withThrowingTaskGroup(of: ProgramRun.self) { group in
            for number in 1...count { group.addTask { try await trial.run(flags(number), endsLeases: false) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(
        .fencedDeletes, .timeLimit(.minutes(60)), arguments: [FaultSubject.backfill, .clientBackfill, .undo, .folder],
        counts)
    func togetherTheyLeaveWhatOneDoes(_ subject: FaultSubject, _ count: Int) async throws {
        let mongod = try await Mongod.shared
        let expected = try await subject.undisturbed(on: mongod)
        for _ in 0..<Self.times {
            let refused = try await subject.withResult(mongod) { trial in
                let runs = try await run(count, trial) { _ in ["SHIPSHAPE_LEASE_WAIT=0s"] }
                for run in runs {
                    #expect([0, 76].contains(run.exitCode), "\(run.status): \(run.errors)\(run.output)")
                }
                let done = try #require(runs.first { $0.exitCode == 0 }, "nobody was let in")
                // Two runners may survey the same documents before one of them changes the documents. The other one
                // then makes a pass that finds nothing to do, so the numbers of passes are not compared.
                let (end, wanted) = (try await trial.outcome(done).withoutPasses, expected.withoutPasses)
                #expect(end == wanted, "\(subject.name): \(difference(end, wanted))")
                return runs.count { $0.exitCode == 76 }
            }
            FaultTable.note(subject, "\(count) runners at once", tries: count, continued: count - refused)
        }
    }

    /// Several runners begin at the same time, two for each part of the job, which `--part` selects.
    ///
    /// If the first runner of a part still holds the part's lease, the second one ends with exit code 76. If the first
    /// one has already ended, the second one runs.
    @Test(.timeLimit(.minutes(60)), arguments: counts) func onPartsTheyLeaveWhatOneDoes(_ count: Int) async throws {
        let mongod = try await Mongod.shared
        let subject = FaultSubject.backfill(of: 40)
        let expected = try await subject.withResult(mongod) { trial in
            _ = try await trial.undisturbed()
            return try await trial.database.documents("tasks")
        }
        for _ in 0..<Self.times {
            try await subject.trial(mongod) { trial in
                let parts = max(1, count / 2)
                let runs = try await run(count, trial) { number in
                    ["--part", "\(1 + number % parts)/\(parts)", "SHIPSHAPE_LEASE_WAIT=0s"]
                }
                for run in runs {
                    #expect([0, 76].contains(run.exitCode), "\(run.status): \(run.errors)\(run.output)")
                }
                #expect(try await trial.database.documents("tasks") == expected)
                #expect(try await trial.state.count("harm", ["seen": false]) == 40)
                let refused = runs.count { $0.exitCode == 76 }
                FaultTable.note(subject, "\(count) runners of parts at once", tries: count, continued: count - refused)
            }
        }
    }
}
