import Glibc
import TestSupport

/// The settings of the property test, which environment variables can change.
enum PropertySettings {
    /// The seed of the only case to run, from `SHIPSHAPE_SEED`; `nil` runs all cases.
    ///
    /// A failure prints the seed of its case.
    static let repeated: UInt64? = number("SHIPSHAPE_SEED")

    /// The number of cases that the property test runs, from `SHIPSHAPE_CASES` if that is set.
    static let cases = number("SHIPSHAPE_CASES").map(Int.init) ?? TestScale.pick(8, full: 100, torture: 1_000)

    /// The number of cases that ``UndoEventsTests`` runs, from `SHIPSHAPE_CASES` if that is set.
    ///
    /// Each of these cases judges about 2,500 change events.
    static let eventCases = number("SHIPSHAPE_CASES").map(Int.init) ?? TestScale.pick(2, full: 8, torture: 40)

    /// The seed of the first case; each further case has the next number.
    ///
    /// The seeds are the same in every run, so that a new failure is due to a change of the code.
    /// `SHIPSHAPE_FIRST_SEED` sets another first seed, to find failures that no run has found yet.
    static let first = repeated ?? number("SHIPSHAPE_FIRST_SEED") ?? 3_080_617_000

    /// The number of different `_id`s in a case of ``UndoEventsTests``, from `SHIPSHAPE_SPREAD`; `nil` means that each
    /// case has its own number.
    ///
    /// With fewer `_id`s, users more often change the documents that the job is changing.
    static let spread = number("SHIPSHAPE_SPREAD").map(Int.init)

    /// The number of cases that run at the same time.
    ///
    /// A case spends most of its time waiting for the lease of a killed runner to end.
    static let atOnce = TestScale.pick(3, full: 6, torture: 6)

    private static func number(_ name: String) -> UInt64? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe UInt64(String(cString: value))
    }
}

/// A violation of the property test: a condition that does not hold in a case.
struct PropertyViolation: Error, CustomStringConvertible {
    /// The failure that a case of the property test has found.
    enum Kind {
        /// The program ended in an unexpected way.
        case ending
        /// A document is lost, or it differs from the job's result for the document as a user last wrote it.
        case document
        /// A runner wrote after the end of its lease.
        case lateWrite
        /// The journal says that a document was written, but the document still needs the job.
        case acknowledged
        /// After the job, documents still need a step, or the report has wrong numbers of skipped documents.
        case listing
        /// A run of the job that was already done changes a document.
        case secondRun
        /// After an undo, a document differs from the expected one.
        case undo
    }

    let kind: Kind
    let description: String
}
