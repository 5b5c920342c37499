import Glibc
import TestSupport

/// The extent of the property test, and the case to repeat.
enum PropertySettings {
    /// The one case to repeat, as a failure prints it, from `SHIPSHAPE_SEED`.
    static let repeated: UInt64? = number("SHIPSHAPE_SEED")

    /// The number of cases, which `SHIPSHAPE_CASES` may set.
    static let cases = number("SHIPSHAPE_CASES").map(Int.init) ?? TestScale.pick(8, full: 100, torture: 1_000)

    /// The same for jobs whose every event is judged, each with some 2,500 events.
    static let eventCases = number("SHIPSHAPE_CASES").map(Int.init) ?? TestScale.pick(2, full: 8, torture: 40)

    /// The first of the seeds, which are always the same ones, so that a change is blamed only for what it breaks.
    ///
    /// `SHIPSHAPE_FIRST_SEED` sets another one, to find failures that no run has found yet.
    static let first = repeated ?? number("SHIPSHAPE_FIRST_SEED") ?? 3_080_617_000

    /// The number of documents in each job whose every event is judged, from `SHIPSHAPE_SPREAD`.
    ///
    /// With fewer documents, the writers meet the job more often.
    static let spread = number("SHIPSHAPE_SPREAD").map(Int.init)

    /// The number of cases at once: most of the time a case waits for the lease of a killed runner.
    static let atOnce = TestScale.pick(3, full: 6, torture: 6)

    private static func number(_ name: String) -> UInt64? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe UInt64(String(cString: value))
    }
}

/// A violation that a case found.
struct PropertyViolation: Error, CustomStringConvertible {
    /// The condition that does not hold.
    enum Kind {
        /// The program ended in an unexpected way.
        case ending
        /// A document is not the result of a user's last write and the job.
        case document
        /// A runner wrote after the end of its lease.
        case lateWrite
        /// The journal acknowledges the write of a document that still needs the job.
        case acknowledged
        /// The report does not list the documents that do not fit.
        case listing
        /// A second run changes a document.
        case secondRun
        /// A restored document is not as it was.
        case undo
    }

    let kind: Kind
    let description: String
}
