import BSON
import TestSupport
import Testing

/// A command of the program that is killed at one fault point after another, each time over a collection of its own.
struct FaultWalk: Sendable {
    /// What happened at one of them.
    struct Death: Sendable {
        /// The fault point's name.
        var place: String
        /// What the next run left.
        var end: [BSONDocument]
    }

    /// Makes the collection and the job.
    let prepare: @Sendable (BackfillCase) async throws -> Void
    /// Runs the command with a fault point; `nil` for none.
    let run: @Sendable (BackfillCase, String?) async throws -> ProgramRun
    /// What counts of what is left, the same whatever the database's name is.
    let outcome: @Sendable (BackfillCase) async throws -> [BSONDocument]

    /// So many at once: most of the time one waits for the lease of the dead, and other tests run beside them.
    static let atOnce = 4

    /// What an uninterrupted run leaves.
    func undisturbed(on mongod: Mongod) async throws -> [BSONDocument] {
        try await mongod.withBackfill { test in
            try await prepare(test)
            let run = try await run(test, nil)
            #expect([0, 1].contains(run.exitCode), "\(run.status): \(run.errors)")
            return try await outcome(test)
        }
    }

    /// Dies at the `visit`-th visit of a place, runs again, and looks; `nil` when the command ended before it came there.
    func dies(at place: String, visit: Int, on mongod: Mongod) async throws -> Death? {
        try await mongod.withBackfill { test in
            try await prepare(test)
            let dead = try await run(test, "\(place):\(visit):kill")
            guard dead.wasKilled else {
                #expect([0, 1].contains(dead.exitCode), "\(place):\(visit): \(dead.status): \(dead.errors)")
                return nil
            }
            let next = try await run(test, nil)
            #expect([0, 1].contains(next.exitCode), "after \(place):\(visit): \(next.status): \(next.errors)")
            let line = dead.errorLines.last { $0.hasPrefix("fault: ") }
            return Death(place: String(try #require(line).dropFirst(7)), end: try await outcome(test))
        }
    }

    /// Dies at every visit of every place, or at some of them.
    /// - Parameter step: 1 for every visit, 5 for every fifth.
    func deaths(step: Int, on mongod: Mongod) async throws -> [Death] {
        try await withThrowingTaskGroup(of: Death?.self) { group in
            var (deaths, visit, isOver) = ([Death](), 1, false)
            for _ in 0..<Self.atOnce {
                group.addTask { [visit] in try await dies(at: "any", visit: visit, on: mongod) }
                visit += step
            }
            while let death = try await group.next() {
                if let death { deaths.append(death) } else { isOver = true }
                guard !isOver else { continue }
                group.addTask { [visit] in try await dies(at: "any", visit: visit, on: mongod) }
                visit += step
            }
            return deaths
        }
    }
}
