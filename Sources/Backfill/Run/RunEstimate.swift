import Concurrency

/// The cost of a run, as a dry run estimates it.
package struct RunEstimate: Hashable, Sendable {
    /// The measurements of a dry run.
    struct Measured: Hashable {
        /// How long the dry run took, in seconds; like a run, it reads and judges every document.
        var seconds: Double
        /// How many changes the job would make; a document counts once for each phase that changes it.
        var changed: Int
        /// How many bytes the touched fields of all changed documents have after the change, with the names of the
        /// fields.
        var touchedBytes: Int
        /// The bytes of the changed documents' `_id`s.
        var idBytes: Int
        /// The bytes of the journal's entries; 0 if the run keeps no journal.
        var journalBytes: Int
        /// How long a run rests after each chunk, as a multiple of the time that the chunk took.
        var nice: Double
        /// How long the consumer takes to process the changes, in seconds; 0 without a consumer.
        var consumerSeconds = 0.0
        /// The maximum size of the oplog in bytes; `nil` if the server does not report it.
        var oplogCapacity: Int?
    }

    /// How many documents a server is assumed to change in a second, after they are read and judged.
    package static let assumedWrites = 25_000
    /// The bytes of an update's entry in the oplog, without the `_id` and the set fields; mongod 6.0 needs 147 for one
    /// field.
    private static let entryOverhead = 150

    /// How long the run would take, in seconds.
    package let seconds: Double
    /// Whether the consumer of the changes, and not the run's own work, determines ``seconds``.
    package let isBoundByConsumer: Bool
    /// The bytes that the run would add to the oplog, including the journal's entries.
    package let oplogBytes: Int
    /// ``oplogBytes`` as a share of the oplog's maximum size; `nil` if the server does not report that size.
    package let oplogShare: Double?
    /// The bytes that the run would add to the journal.
    package let journalBytes: Int

    init(_ measured: Measured) {
        let writing = Double(measured.changed) / Double(Self.assumedWrites)
        let work = (measured.seconds + writing) * (1 + measured.nice)
        seconds = max(work, measured.consumerSeconds)
        isBoundByConsumer = measured.consumerSeconds > work
        oplogBytes =
            measured.changed * Self.entryOverhead + measured.touchedBytes + measured.idBytes + measured.journalBytes
        oplogShare = measured.oplogCapacity.flatMap { [oplogBytes] in $0 > 0 ? Double(oplogBytes) / Double($0) : nil }
        journalBytes = measured.journalBytes
    }
}
