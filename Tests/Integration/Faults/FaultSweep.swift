import BSON
import Synchronization
import TestSupport
import Testing

/// A series of trials of a command: each trial has one fault, at a different moment of the command.
///
/// A visit is one moment at which the command reaches a fault point or sends a request. Visits are counted from 1 on.
enum FaultSweep {
    /// The number of trials that run at the same time.
    ///
    /// A trial spends most of its time waiting for a process.
    static let atOnce = 4

    /// Runs a trial for each of the visits `first`, `first + step` and so on, until one returns `nil`.
    ///
    /// A visit is one moment at which the command reaches a fault point or sends a request.
    ///
    /// - Parameters:
    ///   - step: the distance between the visits to try: 1 for every visit, 5 for every fifth.
    ///   - attempt: runs the trial for a visit; returns `nil` if the command ended before the visit.
    /// - Returns: the results that are not `nil`, in the order in which the trials ended.
    static func visits<Result: Sendable>(
        from first: Int = 1, step: Int, _ attempt: @Sendable @escaping (_ visit: Int) async throws -> Result?
    ) async throws -> [Result] {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            var (results, visit, isOver) = ([Result](), first, false)
            for _ in 0..<Self.atOnce {
                group.addTask { [visit] in try await attempt(visit) }
                visit += step
            }
            while let result = try await group.next() {
                if let result { results.append(result) } else { isOver = true }
                guard !isOver else { continue }
                group.addTask { [visit] in try await attempt(visit) }
                visit += step
            }
            return results
        }
    }
}

extension FaultSubject {
    /// Runs the command without a fault, and returns its outcome.
    func undisturbed(on mongod: Mongod) async throws -> [BSONDocument] {
        try await withResult(mongod) { try await $0.undisturbed() }
    }

    /// The fault point at which a command was killed, and the outcome of its next run.
    struct Death: Sendable {
        /// The name of the fault point.
        var place: String
        /// The outcome of the run after the kill.
        var end: [BSONDocument]
    }

    /// Kills the command at its `visit`-th fault point, and runs it again.
    ///
    /// - Parameter place: the name of the fault points to count; `any` counts all fault points.
    /// - Returns: `nil` if the command ended before it reached that fault point.
    func dies(at place: String, visit: Int, on mongod: Mongod) async throws -> Death? {
        try await withResult(mongod) { trial in
            let dead = try await trial.run(fault: "\(place):\(visit):kill")
            guard dead.wasKilled else {
                #expect([0, 1].contains(dead.exitCode), "\(name) \(place):\(visit): \(dead.status): \(dead.errors)")
                return nil
            }
            let next = try await trial.run()
            #expect([0, 1].contains(next.exitCode), "\(name) after \(place):\(visit): \(next.status): \(next.errors)")
            let line = dead.errorLines.last { $0.hasPrefix("fault: ") }
            return Death(place: String(try #require(line).dropFirst(7)), end: try await trial.outcome(next))
        }
    }

    /// Runs `body` with a trial on a server, and returns the result of `body`.
    func withResult<Result: Sendable>(
        _ mongod: Mongod, _ body: @Sendable @escaping (FaultTrial) async throws -> Result
    ) async throws -> Result {
        let kept = Mutex<Result?>(nil)
        try await trial(mongod) { trial in
            let result = try await body(trial)
            kept.withLock { $0 = result }
        }
        return try #require(kept.withLock { $0 })
    }
}

extension [BSONDocument] {
    /// The outcome without the state documents of the job's `_id` ranges.
    ///
    /// These documents contain the number of passes, which may differ between trials.
    var withoutPasses: [BSONDocument] { filter { $0["pass"] == nil } }
}

/// Returns, as text, the documents that only `found` contains, and the documents that only `wanted` contains.
func difference(_ found: [BSONDocument], _ wanted: [BSONDocument]) -> String {
    let (found, wanted) = (found.map(\.json), wanted.map(\.json))
    return found.filter { !wanted.contains($0) }.joined(separator: " ") + " instead of "
        + wanted.filter { !found.contains($0) }.joined(separator: " ")
}

/// Prints what the fault tests found, as rows for the table in the documentation.
enum FaultTable {
    static let lostPrimary = "election, or kill -9 of the primary"

    /// Prints a row of the fault table.
    ///
    /// - Parameters:
    ///   - tries: how often the test caused the fault.
    ///   - continued: how often the command succeeded in spite of the fault. Otherwise, it failed or was killed.
    static func note(_ subject: FaultSubject, _ fault: String, tries: Int, continued: Int) {
        note(subject.name, fault, tries: tries, continued: continued)
    }

    static func note(_ command: String, _ fault: String, tries: Int, continued: Int) {
        print("fault table | \(command) | \(fault) | \(tries) | \(continued) | \(tries - continued)")
    }
}
