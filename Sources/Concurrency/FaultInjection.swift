internal import Glibc
internal import Synchronization

/// Faults that tests inject into a debug build: the process dies or stops at a named point, or makes a named mistake.
///
/// A release build contains none of this, unless it was built with `SHIPSHAPE_FAULTS`, as in `scripts/test`.
package enum FaultInjection {
    /// A point where a test can kill or stop the process, to prove that nothing is lost or damaged.
    ///
    /// Debug builds read `SHIPSHAPE_FAULT=NAME:N`, and signal the process when it reaches the point for the N-th time.
    /// For the name `any`, the N-th visit of any point counts. A third part, `:stop` or `:kill`, selects the signal.
    /// Several faults are separated by commas.
    package enum Point: String, CaseIterable, Sendable {
        /// A command that writes to the user's collection, such as the update of a chunk, is not sent yet.
        ///
        /// At this point the process is stopped until it receives `SIGCONT`, unless the test asks for `kill`.
        case beforeWrite = "before-write"
        /// The server answered a command that writes to the user's collection, such as the update of a chunk.
        ///
        /// The transaction of this write is not committed yet.
        case afterWrite = "after-write"
        /// The writes of a transaction are done, and the transaction is not committed yet.
        case beforeCommit = "before-commit"
        /// The runner has inserted the documents to which a chunk's documents will link. No document links to them yet.
        case afterCreation = "after-creation"
        /// The chunk's reservations are recorded, and the chunk is not written yet.
        case afterReservation = "after-harm"
        /// The chunk's transaction has the journal, and the chunk is not written yet.
        case afterJournal = "after-journal"
        /// An undo has restored documents, and the transaction is not committed yet.
        case afterRestore = "after-restore"
        /// The server acknowledged the commit of a transaction, with its checkpoint.
        case afterCheckpoint = "after-checkpoint"
        /// A write to the state database is not sent yet; for example, it stores a job, a lease or a checkpoint.
        case beforeStateWrite = "before-state-write"
        /// The server acknowledged a write to the state database.
        case afterStateWrite = "after-state-write"
    }

    /// A mistake that a test makes the program commit, to show that other tests notice the mistake.
    ///
    /// Debug builds read `SHIPSHAPE_PLANT=NAME`.
    package enum Bug: String, CaseIterable, Sendable {
        /// Writes affect every document of their chunk, not only those that need the job.
        case noNeeds = "no-needs"
        /// The transaction's checkpoint is written without a comparison of its number.
        case noSequence = "no-sequence"
        /// The journal of a chunk is written outside of the chunk's transaction.
        case journalOutside = "journal-outside"
    }

    /// A part of the program that a test makes wrong, such as `operator:$split`, `keyword:pattern` or
    /// `check:required`.
    ///
    /// It is `nil` for none. A test shows so that a comparison with the server finds the mistake. A number after a `#`
    /// chooses one of several mistakes. Debug builds read the part from `SHIPSHAPE_PLANT`, too.
    @TaskLocal package static var plantedPart: String?

    #if DEBUG || SHIPSHAPE_FAULTS
    private struct Armed {
        var name: String
        var count: Int
        var signal: Int32?
        var visits = 0
    }

    private static let isArmed = unsafe getenv("SHIPSHAPE_FAULT") != nil
    private static let armed = Mutex<[Armed]>(
        {
            guard let value = unsafe getenv("SHIPSHAPE_FAULT") else { return [] }
            return unsafe String(cString: value).split(separator: ",").compactMap { one in
                let parts = one.split(separator: ":").map(String.init)
                guard (2...3).contains(parts.count), let count = Int(parts[1]) else { return nil }
                return Armed(
                    name: parts[0], count: count,
                    signal: parts.count == 3 ? (parts[2] == "stop" ? SIGSTOP : SIGKILL) : nil)
            }
        }())
    private static let plantedName = unsafe getenv("SHIPSHAPE_PLANT").map { unsafe String(cString: $0) }
    private static let planted = plantedName.flatMap(Bug.init)
    #endif

    /// Kills or stops the process if a test asked for that at this visit of `point`; visits are counted from 1.
    package static func reached(_ point: Point) {
        #if DEBUG || SHIPSHAPE_FAULTS
        guard isArmed else { return }
        let due = armed.withLock { armed -> Armed? in
            var due: Armed?
            for index in armed.indices where [point.rawValue, "any"].contains(armed[index].name) {
                armed[index].visits += 1
                if armed[index].visits == armed[index].count { due = armed[index] }
            }
            return due
        }
        guard let due else { return }
        // The line names the point, because the test may have asked for `any`. The write is unbuffered, because the
        // process may end with the next instruction.
        let line = "fault: \(point.rawValue)\n"
        _ = unsafe write(STDERR_FILENO, line, line.utf8.count)
        // The signal is sent to this thread. Another thread could receive a signal to the process first, while this
        // thread continues.
        raise(due.signal ?? (point == .beforeWrite ? SIGSTOP : SIGKILL))
        #endif
    }

    /// Whether a test asked the program to commit the mistake `bug`.
    package static func isPlanted(_ bug: Bug) -> Bool {
        #if DEBUG || SHIPSHAPE_FAULTS
        planted == bug
        #else
        false
        #endif
    }

    /// Whether a test wants a mistake in a part of the program.
    package static var hasMistake: Bool {
        #if DEBUG || SHIPSHAPE_FAULTS
        (plantedPart ?? plantedName) != nil
        #else
        false
        #endif
    }

    /// Returns the number of the mistake that a test wants in a part of the program; `nil` for none.
    /// - Parameter kind: the kind of the part, such as `operator`.
    package static func mistake(in name: String, of kind: String) -> Int? {
        #if DEBUG || SHIPSHAPE_FAULTS
        guard let part = plantedPart ?? plantedName, part.hasPrefix("\(kind):") else { return nil }
        let pieces = part.dropFirst(kind.count + 1).split(separator: "#", maxSplits: 1)
        guard pieces.first.map(String.init) == name else { return nil }
        return pieces.dropFirst().first.flatMap { Int($0) } ?? 0
        #else
        return nil
        #endif
    }
}
