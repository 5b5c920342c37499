import BSON
import Glibc
import TestSupport
import Testing

/// One request of a command is lost, refused or not answered, or the command is killed at that request.
///
/// The command continues, or says what happened and has the same outcome when it is run again.
@Suite struct RequestFaultTests {
    private static let faults: [RequestFault] = [
        .requestLost, .replyLost, .killedBefore, .killedAfter,
        // The codes mean ShutdownInProgress, PrimarySteppedDown, NotWritablePrimary, InterruptedAtShutdown,
        // MaxTimeMSExpired and CursorNotFound.
        .error(91), .error(189), .error(10_107), .error(11_600), .error(50), .error(43),
        // The codes mean ShutdownInProgress and WriteConcernFailed.
        .writeConcernError(91), .writeConcernError(64),
    ]

    /// The fault of one trial, and whether the command continued in spite of it.
    private struct Try: Sendable {
        var fault: RequestFault
        var continued: Bool
    }

    /// In each trial, one request of the command has a fault, and the kind of fault changes from trial to trial.
    ///
    /// A torture run tries every kind of fault at every request.
    @Test(.fencedDeletes, .timeLimit(.minutes(60)), arguments: FaultSubject.all)
    func oneRequestThatFailsChangesNothing(_ subject: FaultSubject) async throws {
        let mongod = try await Mongod.shared
        let expected = try await subject.undisturbed(on: mongod)
        let rounds = TestScale.pick([0], full: [0], torture: Array(Self.faults.indices))
        var tries: [Try] = []
        for round in rounds {
            tries += try await FaultSweep.visits(step: TestScale.pick(17, full: 5, torture: 1)) { visit in
                let fault = Self.faults[(visit + round) % Self.faults.count]
                return try await attempt(subject, fault, visit, expected, on: mongod)
            }
        }
        #expect(tries.count >= 2)
        for fault in Self.faults {
            let tries = tries.filter { $0.fault == fault }
            guard !tries.isEmpty else { continue }
            FaultTable.note(subject, "\(fault)", tries: tries.count, continued: tries.count { $0.continued })
        }
    }

    /// Runs the command with a fault at its `visit`-th request, and checks the outcome.
    /// - Returns: `nil` if the command ended before it had sent that many requests.
    private func attempt(
        _ subject: FaultSubject, _ fault: RequestFault, _ visit: Int, _ expected: [BSONDocument], on mongod: Mongod
    ) async throws -> Try? {
        try await subject.withResult(mongod) { trial in
            let proxy = try RequestProxy(before: mongod.host, at: visit, fault)
            defer { proxy.close() }
            let run = try await trial.run(by: proxy.uri) { proxy.program(is: $0.process) }
            guard let command = proxy.hit else {
                #expect([0, 1].contains(run.exitCode), "\(subject.name) without a fault: \(run.status): \(run.errors)")
                return nil
            }
            let place = "\(subject.name), \(fault) at request \(visit), \(command)"
            var (last, continued) = (run, [0, 1].contains(run.exitCode))
            if !continued {
                if !run.wasKilled {
                    // `enforce` ends with 65 if the server refuses a `collMod` and a retry cannot help. The operator
                    // has to act then.
                    #expect([65, 69, 75, 76].contains(run.exitCode), "\(place): \(run.status): \(run.errors)")
                    #expect(!run.errors.isEmpty, "\(place): \(run.status)")
                }
                last = try await trial.run()
                #expect([0, 1].contains(last.exitCode), "\(place), then: \(last.status): \(last.errors)")
            }
            let end = try await trial.outcome(last)
            #expect(end == expected, "\(place): \(difference(end, expected))")
            return Try(fault: fault, continued: continued)
        }
    }
}
