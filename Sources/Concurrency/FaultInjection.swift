internal import Glibc
internal import Synchronization

/// Faults that tests cause in a debug build: the process dies or stops at a named point, or makes a named mistake.
///
/// A release build contains none of this, unless it was built with `SHIPSHAPE_FAULTS`, as `scripts/test` does.
package enum FaultInjection {
    /// A point where a test can make the process die or stop, to prove that this loses and breaks nothing.
    ///
    /// Debug builds read `SHIPSHAPE_FAULT=NAME:N` and signal the process at the N-th time that it reaches the point.
    /// The name `any` counts all points together. A third part, `:stop` or `:kill`, chooses the signal. Several faults
    /// are separated by commas.
    package enum Point: String, CaseIterable, Sendable {
        /// The chunk's lease was checked, and its command is not sent yet.
        ///
        /// At this point the process is stopped until a `SIGCONT`, unless the test says `kill`.
        case beforeWrite = "before-write"
        /// The server acknowledged a chunk's write; the checkpoint is not written yet.
        case afterWrite = "after-write"
        /// A transaction's writes are done; it is not committed yet.
        case beforeCommit = "before-commit"
        /// The child documents that a batch's changes link to exist; no document links to them yet.
        case afterCreation = "after-creation"
        /// The chunk's reservation is recorded; the chunk is not written yet.
        case afterReservation = "after-harm"
        /// The chunk's journal is written; the chunk is not.
        case afterJournal = "after-journal"
        /// An undo's documents are restored; its checkpoint is not written yet.
        case afterRestore = "after-restore"
        /// The checkpoint is acknowledged.
        case afterCheckpoint = "after-checkpoint"
        /// A write to the state database is not sent yet: a stored job, a lease, its renewal, a checkpoint, a change of
        /// state.
        case beforeStateWrite = "before-state-write"
        /// A write to the state database is acknowledged.
        case afterStateWrite = "after-state-write"
    }

    /// A mistake that a test makes the program commit, to show that the other tests would find it.
    ///
    /// Debug builds read `SHIPSHAPE_PLANT=NAME`.
    package enum Bug: String, CaseIterable, Sendable {
        /// Writes are sent without the lease's end in their filter.
        case noFence = "no-fence"
        /// Writes affect every document of their chunk, not only those that need the job.
        case noNeeds = "no-needs"
        /// The journal says that a chunk was written, although the chunk is written only later.
        case acknowledgeFirst = "acknowledge-first"
    }

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
    private static let planted = unsafe getenv("SHIPSHAPE_PLANT").flatMap {
        Bug(rawValue: unsafe String(cString: $0))
    }
    #endif

    /// Kills or stops the process if a test asked for that at this visit of `point`; the first visit is number 1.
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
        // Reports which point it was, because the test may have asked for `any`. The write is unbuffered, because the
        // process may be gone with the next instruction.
        let line = "fault: \(point.rawValue)\n"
        _ = unsafe write(STDERR_FILENO, line, line.utf8.count)
        // The signal goes to this thread. A signal to the process may reach another thread first, and this thread would
        // continue.
        raise(due.signal ?? (point == .beforeWrite ? SIGSTOP : SIGKILL))
        #endif
    }

    /// Whether a test asked for this mistake.
    package static func isPlanted(_ bug: Bug) -> Bool {
        #if DEBUG || SHIPSHAPE_FAULTS
        planted == bug
        #else
        false
        #endif
    }
}
