import Concurrency

/// At what a run waits; `nil` takes a brake off.
package struct BrakeLimits: Hashable, Sendable {
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

extension BrakeLimits {
    /// Every limit by its name, with its value as a job file spells it.
    var entries: [(name: String, value: String)] {
        [
            ("lag", Self.text(lag)), ("flowControl", Self.text(flowControl)), ("tickets", Self.text(percent: tickets)),
            ("cache.dirty", Self.text(percent: cacheDirty)), ("cache.used", Self.text(percent: cacheUsed)),
            ("oplog", Self.text(oplog)), ("pause", Self.text(pause)), ("ledgerLag", Self.text(ledgerLag)),
        ]
    }

    private static func text(percent: Int?) -> String { percent.map { "\($0)%" } ?? "off" }

    private static func text(_ duration: Duration?) -> String {
        guard let milliseconds = duration?.milliseconds else { return "off" }
        for (unit, factor) in [("h", 3_600_000), ("m", 60_000), ("s", 1_000)] as [(String, Int64)]
        where milliseconds % factor == 0 { return "\(milliseconds / factor)\(unit)" }
        return "\(milliseconds)ms"
    }

    private static func text(_ windows: [PauseWindow]) -> String {
        switch windows.count {
        case 0: "off"
        case 1: windows[0].text
        default: "[" + windows.map { "\"\($0.text)\"" }.joined(separator: ", ") + "]"
        }
    }
}
