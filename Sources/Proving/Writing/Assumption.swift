/// An assumption about the server on which every write relies.
package struct Assumption: Sendable {
    /// The name of the assumption in reports, such as "refused-statement".
    package let name: String
    /// The assumption as a sentence, without a period.
    package let sentence: String
    /// Tries the assumption in a trial's scratch collection; throws a ``Trial/Finding`` unless it holds.
    let attempt: @Sendable (Trial) -> () throws -> Void

    private init(_ name: String, _ attempt: @escaping @Sendable (Trial) -> () throws -> Void, _ sentence: String) {
        self.name = name
        self.sentence = sentence
        self.attempt = attempt
    }

    /// All assumptions, in the order in which they are tried.
    package static let all = [
        Assumption(
            "refused-statement", Trial.refusesStatement,
            "a statement that the server refuses in a transaction is named by its index and its error's code, and the "
                + "transaction is gone with all its earlier writes"),
        Assumption(
            "changed-document", Trial.refusesChangedDocument,
            "a transaction cannot write a document that another client changed after the transaction's first read"),
        Assumption(
            "snapshot-read", Trial.readsSnapshot,
            "a transaction sees its session's last commit, and no write that was committed after its first read"),
        Assumption(
            "fenced-record", Trial.fencesRecord,
            "a transaction of a runner cannot commit if another runner takes the lease, and its fence matches no "
                + "record that it did not leave so"),
        Assumption(
            "killed-session", Trial.endsKilledSession,
            "killSessions ends the transaction of another client, and frees the documents that it holds"),
        Assumption(
            "repeated-commit", Trial.repeatsCommit,
            "a commit that is sent again succeeds without a second write, and the commit of an unknown transaction "
                + "fails with code 251"),
        Assumption(
            "majority-wait", Trial.waitsForMajority,
            "after a write that waits for a majority, a majority has the transactions that were committed before it"),
        Assumption(
            "literal-pipeline", Trial.storesLiterals,
            "an update with $literal stores values byte for byte, keeps the order of fields, and adds new fields at "
                + "the end"),
        Assumption(
            "renamed-collection", Trial.refusesOtherUUID,
            "a command with collectionUUID is refused with code 361 if the collection of that name has another UUID "
                + "or does not exist"),
        Assumption(
            "record-order", Trial.resumesRecords,
            "a read in record order continues after the record of its resume token, and fails with code 211 if that "
                + "record was deleted"),
        Assumption(
            "change-stream-session", Trial.namesSession,
            "the change events of a transaction name the session that wrote, and those of other writes do not"),
    ]
}
