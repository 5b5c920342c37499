import Glibc
import TestSupport

/// How much of the property test runs, and which case of it is to be repeated.
enum PropertySettings {
    /// `SHIPSHAPE_SEED`: the one case to repeat, as a failure prints it.
    static let repeated: UInt64? = number("SHIPSHAPE_SEED")

    /// `SHIPSHAPE_CASES`: so many instead of the usual number.
    static let cases = number("SHIPSHAPE_CASES").map(Int.init) ?? TestScale.pick(8, full: 100, torture: 1_000)

    /// The same for jobs whose every event is judged: some 2,500 events each.
    static let eventCases = number("SHIPSHAPE_CASES").map(Int.init) ?? TestScale.pick(2, full: 8, torture: 40)

    /// The first of the seeds, which follow each other: always the same, so that a change is blamed for what it breaks alone.
    ///
    /// `SHIPSHAPE_FIRST_SEED` looks for what no run has found yet.
    static let first = repeated ?? number("SHIPSHAPE_FIRST_SEED") ?? 3_080_617_000

    /// `SHIPSHAPE_SPREAD`: so many documents in each of the jobs whose every event is judged; the fewer, the more often the
    /// writers meet the job.
    static let spread = number("SHIPSHAPE_SPREAD").map(Int.init)

    /// So many at once: most of the time a case waits for the lease of a runner that was killed.
    static let atOnce = TestScale.pick(3, full: 6, torture: 6)

    private static func number(_ name: String) -> UInt64? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe UInt64(String(cString: value))
    }
}

/// What a case found to be wrong.
struct PropertyViolation: Error, CustomStringConvertible {
    /// What does not hold.
    enum Kind {
        /// The program ended as it should not have.
        case ending
        /// A document is not what the last write of a user and the job make of it.
        case document
        /// A runner wrote after its lease.
        case lateWrite
        /// The journal says that a document was written, and it still needs the job.
        case acknowledged
        /// The report does not list what does not fit.
        case listing
        /// A second run changes something.
        case secondRun
        /// What was taken back is not what it was.
        case undo
    }

    let kind: Kind
    let description: String
}
