import Concurrency

/// The cost of a run, as a dry run estimates it.
package struct RunEstimate: Hashable, Sendable {
    /// The measurements of a dry run.
    package struct Measured: Hashable {
        /// How long the dry run took, in seconds.
        ///
        /// A dry run reads every document and evaluates the job's steps for it, as a run does.
        package var seconds: Double
        /// How many changes the job would make; a document counts once for each phase of the job that changes it.
        package var changed: Int
        /// The total size in bytes that the changed fields have after the change, summed over all changed documents.
        ///
        /// The size includes the names of the fields.
        package var touchedBytes: Int
        /// The total size in bytes of the changed documents' `_id`s.
        package var idBytes: Int
        /// The total size in bytes of the journal's entries; 0 if the run keeps no journal.
        package var journalBytes: Int
        /// How long a run rests after each chunk, as a multiple of the time that the chunk took.
        package var nice: Double
        /// How many seconds the consumer of the changes, such as a sync engine, needs to process them; 0 without a
        /// consumer.
        package var consumerSeconds = 0.0
        /// The maximum size of the oplog in bytes; `nil` if the server does not report it.
        package var oplogCapacity: Int?

        package init(
            seconds: Double, changed: Int, touchedBytes: Int, idBytes: Int, journalBytes: Int, nice: Double,
            consumerSeconds: Double = 0, oplogCapacity: Int?
        ) {
            (self.seconds, self.changed, self.nice) = (seconds, changed, nice)
            (self.touchedBytes, self.idBytes, self.journalBytes) = (touchedBytes, idBytes, journalBytes)
            (self.consumerSeconds, self.oplogCapacity) = (consumerSeconds, oplogCapacity)
        }
    }

    /// How many documents per second a server is assumed to change.
    ///
    /// This rate does not include the time for reading the documents and evaluating the steps.
    package static let assumedWrites = 25_000
    /// The assumed size in bytes of an update's oplog entry, without the `_id` and the set fields.
    ///
    /// For an update of one field, mongod 6.0 needs 147 bytes.
    private static let entryOverhead = 150

    package let seconds: Double
    /// Whether the consumer of the changes, and not the run's own work, determines ``seconds``.
    package let isBoundByConsumer: Bool
    /// How many bytes the run would add to the oplog, including the writes of the journal.
    package let oplogBytes: Int
    /// ``oplogBytes`` as a share of the oplog's maximum size; `nil` if the server does not report that size.
    package let oplogShare: Double?
    package let journalBytes: Int

    /// Estimates a run from the measurements of its dry run.
    package init(_ measured: Measured) {
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
