import BSON
import Concurrency
import Mongo
import Running

/// A write that copies a change from one document of a pair to the pair's other document.
///
/// A pair is a document of the original collection and its counterpart in the partner collection.
struct PairWrite {
    let pair: CarriedPair
    /// The collection from which the change is copied: the original or the partner.
    let origin: PartnerSide
    /// The document that the write stores in the other collection; `nil` deletes the document there.
    let after: BSONDocument?

    /// The change that the ``PairWriter`` has to make; `nil` if the pair has no `_id` in the other collection.
    fileprivate var change: PairWriter.Change? {
        pair.ids[origin.other].map {
            PairWriter.Change(key: pair.key, id: $0, before: pair.documents[origin.other], after: after)
        }
    }
}

extension MirrorRun {
    /// Carries out the writes.
    ///
    /// A document is overwritten only if it is still the same as when it was read. Otherwise its pair is listed in
    /// ``dirty`` again, so that its change is copied later.
    ///
    /// If the server refuses a write, the pair is recorded as a held pair, which the mirror does not write for now.
    mutating func write(_ writes: [PairWrite], until time: ClusterTime) throws {
        var isStuck = !writes.isEmpty
        for side in PartnerSide.allCases {
            let group = writes.filter { $0.origin == side.other }
            guard !group.isEmpty else { continue }
            let byKey = Dictionary(group.map { ($0.pair.key, $0) }) { first, _ in first }
            var outcome = try send(group.compactMap(\.change), to: side, until: time)
            try untangle(&outcome, on: side, until: time)
            for refused in outcome.refused {
                guard let write = byKey[refused.change.key] else { continue }
                try hold(refused, write)
            }
            for change in outcome.unchanged {
                guard let write = byKey[change.key] else { continue }
                dirty.restore(change.key, write.pair.dirty)
            }
            let failed = Set(outcome.refused.map(\.change.key) + outcome.unchanged.map(\.key))
            for change in group.compactMap(\.change) where !failed.contains(change.key) {
                note(change, sentTo: side, readAt: time)
            }
            counts.carried[side.other, default: 0] += group.count - failed.count
            if failed.count < group.count || !outcome.refused.isEmpty { isStuck = false }
            for key in byKey.keys where !failed.contains(key) {
                try held.release(key, under: kernel)
                for waiting in held.waiting(for: key) { dirty.add(waiting, read: streamReads.latest) }
            }
        }
        // If nothing was written, another client may be writing the same documents, for example in a transaction. The
        // mirror therefore waits before its next attempt.
        if isStuck { try kernel.sleep(.milliseconds(50)) }
    }

    /// Restores the clients' documents that the mirror's own writes overwrote, unless clients have changed them again.
    ///
    /// In each case, a client changed the document after the mirror had read it and before the mirror wrote it. The
    /// client's change is restored, because it is later than the change that the mirror copied. The pair of the
    /// document is listed in ``dirty`` with the time of the client's change.
    mutating func restoreOverwritten() throws {
        for side in PartnerSide.allCases {
            let writes = unreported.overwriting.filter { $0.side == side }
            guard let time = writes.map(\.read).min() else { continue }
            // A document that a client has changed again since the mirror's write keeps that change, even if it has the
            // content that the mirror wrote.
            let restored = writes.filter {
                dirty.lastChange(of: $0.change.key, on: side, after: $0.overwrittenTime) == nil
            }
            let changes = restored.map(\.change).map {
                PairWriter.Change(key: $0.key, id: $0.id, before: $0.after, after: $0.before)
            }
            let outcome = try send(changes, to: side, until: time)
            let refused = Set(outcome.refused.map(\.change.key))
            let failed = refused.union(outcome.unchanged.map(\.key))
            for (write, change) in zip(restored, changes) where !failed.contains(change.key) {
                note(change, sentTo: side, readAt: write.overwrittenTime)
            }
            for key in writes.map(\.change.key) {
                counts.conflicts += 1
                mirror.events(.conflict(id: key.value, winner: refused.contains(key) ? side.other : side))
            }
        }
        unreported.overwriting = []
    }

    /// Records a committed write of the mirror in ``unreported`` until the change stream reports the write.
    ///
    /// If the stream has already reported a client's change from after the mirror's read, the write has overwritten
    /// that change. The write's condition did not prevent this, because the client later restored the content that the
    /// mirror had read.
    /// - Parameter time: the time at which the mirror read the document before the write.
    private mutating func note(_ change: PairWriter.Change, sentTo side: PartnerSide, readAt time: ClusterTime) {
        // The session's last known time may be before the commit, so the mirror expects the write in the change stream
        // until 10 seconds after that time.
        let end = ClusterTime(rawValue: writer.lastCommit.rawValue + (10 << 32))
        let overwritten = dirty.lastChange(of: change.key, on: side, after: time)
        unreported.add(
            UnreportedWrites.Write(side: side, change: change, read: time, end: end, overwritten: overwritten))
    }

    private mutating func send(
        _ changes: [PairWriter.Change], to side: PartnerSide, until time: ClusterTime, isExchange: Bool = false
    ) throws -> PairWriter.Outcome {
        try writer.write(
            changes, to: partner.job.namespace(side), until: time, &carried, isExchange: isExchange, under: &kernel)
    }

    private mutating func hold(_ refused: PairWriter.Refused, _ write: PairWrite) throws {
        let side = write.origin
        let holder = refused.holder.flatMap { partner.key(of: $0, on: side.other) }
        let refusal = Refusal(
            id: write.pair.ids[side] ?? refused.change.id, reason: .server(refused.code.rawValue))
        try hold(write.pair, side, refusal, holder: holder)
        // Held pairs may form a circle, in which each pair needs the unique-index key that the next pair's document
        // has. The server accepts these changes only in one transaction. If this pair completes a circle, all pairs of
        // the circle are listed in ``dirty`` again, so that one transaction can write them.
        guard let holder, write.pair.held?.holder != holder else { return }
        var circle = [write.pair.key]
        while let next = held[circle[circle.count - 1]]?.holder, !circle.contains(next) { circle.append(next) }
        guard circle.count > 1, held[circle[circle.count - 1]]?.holder == write.pair.key else { return }
        for key in circle { dirty.add(key, read: streamReads.latest) }
    }

    // MARK: keys of unique indexes

    /// Retries changes that the server refused because another document has their key in a unique index.
    ///
    /// Each change is retried after the change that frees its key. If changes need each other's keys in a circle, one
    /// transaction makes all of them.
    private mutating func untangle(
        _ outcome: inout PairWriter.Outcome, on side: PartnerSide, until time: ClusterTime
    ) throws {
        var tangled = outcome.refused.filter { $0.code == .duplicateKey }
        guard !tangled.isEmpty else { return }
        outcome.refused.removeAll { $0.code == .duplicateKey }
        var isProgressing = true
        while isProgressing, !tangled.isEmpty, !kernel.stop.isRaised {
            isProgressing = false
            let waiting = Set(tangled.map { IDKey($0.change.id) })
            let (ready, rest) = (
                tangled.filter { refused in refused.holder.map { !waiting.contains(IDKey($0)) } ?? true },
                tangled.filter { refused in refused.holder.map { waiting.contains(IDKey($0)) } ?? false }
            )
            let circle = ready.isEmpty ? Self.circle(of: rest) : []
            let batch = ready.isEmpty ? circle : ready
            guard !batch.isEmpty else { break }
            let again = try send(batch.map(\.change), to: side, until: time, isExchange: !circle.isEmpty)
            outcome.unchanged += again.unchanged
            let failed = Set(again.refused.map(\.change.key))
            isProgressing = failed.count < batch.count
            let left =
                circle.isEmpty ? rest : rest.filter { one in !circle.contains { $0.change.key == one.change.key } }
            if circle.isEmpty, isProgressing {
                // A change that the server refused again may succeed in the next attempt, because another change of the
                // batch may have freed its key.
                tangled = left + again.refused.filter { $0.code == .duplicateKey }
                outcome.refused += again.refused.filter { $0.code != .duplicateKey }
            } else {
                outcome.refused += again.refused
                tangled = left
                isProgressing = isProgressing || !left.isEmpty
            }
        }
        outcome.refused += tangled
    }

    /// Returns changes that form a circle: each change needs the unique-index key that the next change's document has.
    ///
    /// The result is empty if there is no circle.
    private static func circle(of refused: [PairWriter.Refused]) -> [PairWriter.Refused] {
        let byID = Dictionary(refused.map { (IDKey($0.change.id), $0) }) { first, _ in first }
        guard var current = refused.first else { return [] }
        var (path, places): ([PairWriter.Refused], [IDKey: Int]) = ([], [:])
        while places[IDKey(current.change.id)] == nil {
            places[IDKey(current.change.id)] = path.count
            path.append(current)
            guard let holder = current.holder, let next = byID[IDKey(holder)] else { return [] }
            current = next
        }
        return Array(path[(places[IDKey(current.change.id)] ?? 0)...])
    }
}
