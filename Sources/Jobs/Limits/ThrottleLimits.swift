import Concurrency

/// At what a run waits; `nil` takes a reason off.
package struct ThrottleLimits: Hashable, Sendable {
    /// The most that a majority, or the slowest healthy secondary, may be behind the primary.
    package var lag: Duration? = .seconds(10)
    /// The most that all writers together may wait for flow control in a second.
    package var flowControl: Duration? = .seconds(1)
    /// The most of the storage engine's execution tickets that may be in use, in percent.
    package var tickets: Int? = 80
    /// The most of the cache that may wait to be written to disk, in percent.
    ///
    /// At 20% WiredTiger makes users' own operations write it.
    package var cacheDirty: Int? = 15
    /// The most of the cache that may be filled, in percent.
    ///
    /// WiredTiger fills it to 80% and, from 95%, makes users' own operations free it.
    package var cacheUsed: Int? = 95
    /// The least time that the oplog has to reach back, once it is full.
    ///
    /// A sync translator or a change stream that falls off its end is lost.
    package var oplog: Duration? = .seconds(3_600)
    /// When nothing is written.
    package var pause: [PauseWindow] = []
    /// How long the ledger may lag behind the writes: a document that was repaired keeps its room that long.
    package var ledgerLag: Duration = .seconds(60)

    /// The defaults.
    package init() {}
}
