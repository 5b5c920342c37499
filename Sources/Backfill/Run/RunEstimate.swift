import Concurrency

/// What a run would take, as told by a dry run.
package struct RunEstimate: Hashable, Sendable {
    /// What a dry run measured.
    struct Measured: Hashable {
        /// The dry run's own seconds: it reads and judges every document, as a run does.
        var seconds: Double
        /// Documents that the job would change.
        var changed: Int
        /// Bytes of the touched fields of those documents as they would be, with their names.
        var touchedBytes: Int
        /// Bytes of their `_id`s.
        var idBytes: Int
        /// Bytes of the journal's entries; 0 when none is kept.
        var journalBytes: Int
        /// Rest per unit of work.
        var nice: Double
        /// What the oplog holds at most; `nil` where the server does not tell.
        var oplogCapacity: Int?
    }

    /// Documents that a server is assumed to change in a second, besides reading and judging them.
    package static let assumedWrites = 25_000
    /// What an oplog entry of an update has besides the `_id` and what is set; an update of one field of mongod 6.0 has 147.
    private static let entryOverhead = 150

    /// How long it would take.
    package let seconds: Double
    /// What it would add to the oplog, the journal's entries too.
    package let oplogBytes: Int
    /// The part of the oplog that is; `nil` where the server does not tell how large that is.
    package let oplogShare: Double?
    /// What it would add to the journal.
    package let journalBytes: Int

    init(_ measured: Measured) {
        let writing = Double(measured.changed) / Double(Self.assumedWrites)
        seconds = (measured.seconds + writing) * (1 + measured.nice)
        oplogBytes =
            measured.changed * Self.entryOverhead + measured.touchedBytes + measured.idBytes + measured.journalBytes
        oplogShare = measured.oplogCapacity.flatMap { [oplogBytes] in $0 > 0 ? Double(oplogBytes) / Double($0) : nil }
        journalBytes = measured.journalBytes
    }
}
