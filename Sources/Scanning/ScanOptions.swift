package import Checking

/// What a scan may use, and what it is asked for.
package struct ScanOptions: Sendable {
    /// Ranges read at once, each by a thread and a client of its own.
    package var threads = 2
    /// Whether the namespace is a view: it has no index of its own to walk, so it is read by one cursor, and a lost one
    /// cannot be reopened where it was.
    package var isView = false
    /// What the tallies keep.
    package var tally = Tally.Options()
    /// The documents that are recorded as unsynced already.
    package var ledger: LedgerIndex?
    /// The schema that is live now, to compare with.
    package var active = ActiveSchema.notAsked
    /// The findings that do not fail the check.
    package var exceptions: [FindingException] = []
    /// Told of every document that fails or may fail, by every thread of the scan.
    package var onFailure: (@Sendable (FailingDocument) -> Void)?

    /// Asked now and then, from every thread of the scan; a yes ends it with ``ScanStopped``.
    package var isStopped: @Sendable () -> Bool = { false }
    /// Told now and then how many more documents were read, by every thread of the scan.
    package var progress: @Sendable (Int) -> Void = { _ in }

    /// The defaults.
    package init() {}

    /// A tally of one thread, which has counted nothing.
    func makeTally(_ schema: CompiledSchema) -> Tally {
        var tally = Tally(schema, active: active, exceptions: exceptions, options: self.tally)
        tally.onFailure = onFailure
        return tally
    }
}

/// The scan was asked to stop before it had read everything.
package struct ScanStopped: Error {
    /// Made by the scan.
    package init() {}
}
