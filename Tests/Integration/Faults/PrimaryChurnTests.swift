import BSON
import Glibc
import TestSupport
import Testing

/// The primary steps down or is killed several times during a command.
///
/// The command continues, or says how to continue, and its outcome is the same as that of an undisturbed run.
@Suite(.serialized, .fencedDeletes) struct PrimaryChurnTests {
    private static let set = Task { try await FailoverSet.start() }

    /// The numbers of step-downs (`elections`) and of kills of the primary that a test has caused so far.
    private struct Churn {
        var elections = 0
        var kills = 0
        var count: Int { elections + kills }
    }

    /// Returns a list of `count` faults, each of which stops the program; the program reaches about `step` fault points
    /// between two of them.
    private static func stops(_ count: Int, every step: Int) -> String {
        (1...count).map { "any:\($0 * step + Int.random(in: 0..<step / 2)):stop" }.joined(separator: ",")
    }

    @Test(
        .timeLimit(.minutes(60)),
        arguments: [
            FaultSubject.backfill(of: TestScale.pick(16, full: 40, torture: 400)),
            FaultSubject.undo(of: TestScale.pick(16, full: 40, torture: 400)),
        ]) func aJobOutlivesItsPrimaries(_ subject: FaultSubject) async throws
    {
        let set = try await Self.set.value
        let expected = try await subject.undisturbed(on: set.mongod)
        let stops = Self.stops(TestScale.pick(2, full: 6, torture: 60), every: 12)
        let churn = try await subject.withResult(set.mongod) { trial in
            try await Self.attempt(subject, trial, expected, set, fault: stops) { program, _ in
                try await waitUntil("the program is held or ends") { try program.hasEnded || program.isStopped }
                return !program.hasEnded
            }
        }
        #expect(churn.elections > 0 && churn.kills > 0)
    }

    /// The scan is slowed down by the setting `rate`, so that the primary can change while the scan reads.
    @Test(.timeLimit(.minutes(60))) func aCheckOutlivesItsPrimaries() async throws {
        let set = try await Self.set.value
        let count = TestScale.pick(12_000, full: 12_000, torture: 120_000)
        let subject = FaultSubject.check(of: count, "SHIPSHAPE_RATE=2000", "SHIPSHAPE_THREADS=2")
        let expected = try await subject.undisturbed(on: set.mongod)
        let most = TestScale.pick(2, full: 4, torture: .max)
        let churn = try await subject.withResult(set.mongod) { trial in
            var seen: [Int64: Int] = [:]
            return try await Self.attempt(subject, trial, expected, set) { program, churn in
                guard churn.count < most else { return false }
                let before = seen.values.reduce(0, +)
                try await waitUntil("the check reads on") {
                    seen.merge(await set.returned(from: trial.database.namespace("person"))) { max($0, $1) }
                    return program.hasEnded || seen.values.reduce(0, +) >= before + 1_000
                }
                return !program.hasEnded
            }
        }
        #expect(churn.elections > 0 && churn.kills > 0)
    }

    /// Runs the command until it has finished its work, at most 20 times, and compares the outcome with that of an
    /// undisturbed run.
    ///
    /// - Parameter comes: waits for the next moment to change the primary; returns `false` if the primary must not
    ///   change again during this run.
    /// - Returns: the number of elections and of kills of the primary.
    private static func attempt(
        _ subject: FaultSubject, _ trial: FaultTrial, _ expected: [BSONDocument], _ set: FailoverSet,
        fault: String? = nil, _ comes: (LiveProgram, Churn) async throws -> Bool
    ) async throws -> Churn {
        var (churn, runs, last) = (Churn(), 0, ProgramRun?.none)
        repeat {
            let run = try await trial.run(fault: fault) { program in
                while try await comes(program, churn) {
                    try await set.waitForMembers()
                    let term = try await set.term()
                    let kills = !churn.count.isMultiple(of: 2)
                    // The test lets the program continue before the primary changes, so that the program meets a
                    // replica set without a primary.
                    async let change: Void = kills ? set.killPrimary() : set.stepDown()
                    program.send(SIGCONT)
                    try await change
                    try await waitUntil("there was an election") { ((try? await set.term()) ?? term) > term }
                    if kills { churn.kills += 1 } else { churn.elections += 1 }
                }
            }
            runs += 1
            let code = try #require(run.exitCode, "\(subject.name): \(run.status): \(run.errors)")
            #expect([0, 1, 69, 75, 76].contains(code), "\(subject.name): \(run.status): \(run.errors)")
            #expect(code < 2 || !run.errors.isEmpty)
            last = run
        } while ![0, 1].contains(last?.exitCode) && runs < 20
        try await set.waitForMembers()
        let run = try #require(last)
        // An election may undo the last chunks, which the run then writes in another pass.
        let (end, expected) = (try await trial.outcome(run).withoutPasses, expected.withoutPasses)
        #expect(end == expected, "\(subject.name) after \(churn): \(difference(end, expected))")
        let continued = runs == 1 ? churn.count : max(0, churn.count - runs + 1)
        FaultTable.note(subject, FaultTable.lostPrimary, tries: churn.count, continued: continued)
        return churn
    }
}
