/// An assumption about the server, on which everything that writes stands.
package struct Assumption: Sendable {
    /// The name of the assumption in reports, such as "refused-statement".
    package let name: String
    /// The assumption as a sentence, without a period.
    package let sentence: String
    /// Tries the assumption with a scratch collection, which is empty at first.
    ///
    /// Throws ``Deviation`` if the server does something else, and ``Untried`` if the assumption cannot be tried.
    let attempt: @Sendable (Trial) throws -> Void

    /// An observation that contradicts an assumption.
    struct Deviation: Error {
        let seen: String
    }

    /// The reason why an assumption cannot be tried.
    struct Untried: Error {
        let reason: String
    }

    /// All assumptions, in the order in which they are tried.
    package static let all = [
        Assumption(
            name: "refused-statement",
            sentence:
                "a statement that the server refuses in a transaction is named by its index and its error's code, "
                + "and the transaction is gone with all its earlier writes",
            attempt: refusesStatement),
        Assumption(
            name: "changed-document",
            sentence: "a transaction cannot write a document that another client changed after the transaction's first "
                + "read",
            attempt: refusesChangedDocument),
        Assumption(
            name: "snapshot-read",
            sentence: "a transaction sees its session's last commit, and no write that was committed after its first "
                + "read",
            attempt: readsSnapshot),
        Assumption(
            name: "fenced-record",
            sentence:
                "a transaction of a runner cannot commit if another runner takes the lease, and its fence matches "
                + "no record that it did not leave so",
            attempt: fencesRecord),
        Assumption(
            name: "killed-session",
            sentence: "killSessions ends the transaction of another client, and frees the documents that it holds",
            attempt: endsKilledSession),
        Assumption(
            name: "repeated-commit",
            sentence: "a commit that is sent again succeeds without a second write, and the commit of an unknown "
                + "transaction fails with code 251",
            attempt: repeatsCommit),
        Assumption(
            name: "majority-wait",
            sentence: "after a write that waits for a majority, a majority has the transactions that were committed "
                + "before it",
            attempt: waitsForMajority),
        Assumption(
            name: "literal-pipeline",
            sentence: "an update with $literal stores values byte for byte, keeps the order of fields, and adds new "
                + "fields at the end",
            attempt: storesLiterals),
        Assumption(
            name: "renamed-collection",
            sentence: "a command with collectionUUID is refused with code 361 if the collection of that name has "
                + "another UUID or does not exist",
            attempt: refusesOtherUUID),
        Assumption(
            name: "record-order",
            sentence:
                "a read in record order continues after the record of its resume token, and fails with code 211 if "
                + "that record was deleted",
            attempt: resumesRecords),
        Assumption(
            name: "change-stream-session",
            sentence:
                "the change events of a transaction name the session that wrote, and those of other writes do not",
            attempt: namesSession),
    ]
}
