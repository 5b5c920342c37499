import BSON
import Concurrency
import Following
import Foundation
import JobState
import Jobs
import Mongo
import Running
import Scanning

/// A pair that the mirror is carrying over: a document of the original collection, and its counterpart in the partner
/// collection.
struct CarriedPair {
    /// The write that changes one document of the pair to match the pair's other document.
    enum Result {
        /// In the other collection, the pair's document is replaced by the given document, or the given document is
        /// inserted.
        case document(BSONDocument)
        /// The pair's document in the other collection is deleted, because the changed document no longer exists.
        case deletion
        /// Nothing is written, because the pair's document in the other collection already matches the changed
        /// document.
        case equal
        /// The changed document cannot be carried over, because no matching document can exist in the other collection.
        case refused(Refusal)
    }

    let key: IDKey
    /// The pair's changes since it was last carried over, and whether it is known which document changed.
    var dirty: DirtyPairs.Pair
    /// The pair's record as a held pair; `nil` if the pair is not held.
    ///
    /// A pair is held if a change of one of its documents could not be carried over. The record has the reason, and the
    /// changes that were not carried over.
    let held: HeldPairs.Held?
    /// The `_id` of the pair's document in the original and in the partner collection, even if that document does not
    /// exist.
    let ids: [PartnerSide: BSONValue]
    /// The pair's documents as they were read before the write; a collection without the document has no entry.
    var documents: [PartnerSide: BSONDocument] = [:]
    /// The partner's document that the forward steps compute from the original, or the refusal of the original; `nil`
    /// if the steps were not computed yet.
    ///
    /// Whether the reverse steps restore the original is not checked here.
    var made: Translation.Outcome?
    /// The write for each changed document, by that document's side; the write changes the document on the other side.
    var results: [PartnerSide: Result] = [:]

    /// All changes of the pair that are not carried over: the new ones, and the older ones of a held pair.
    var changes: [PartnerSide: DirtyPairs.Change] { dirty.changes.merging(held?.changes ?? [:]) { $0 + $1 } }

    /// The collections whose document of the pair may have to be carried over to the other collection.
    var changedSides: [PartnerSide] {
        guard dirty.isUnknown else { return PartnerSide.allCases.filter { changes[$0] != nil } }
        let side: PartnerSide = documents[.source] == nil ? .target : .source
        return PartnerSide.allCases.filter { $0 == side || $0 == held?.side }
    }

    /// The collection, original or partner, whose document of the pair changed last.
    ///
    /// If it is unknown which document changed, this is the original collection, or the partner collection if the pair
    /// has no original document.
    var lastChanged: PartnerSide {
        guard !dirty.isUnknown, let target = changes[.target] else {
            return documents[.source] == nil && dirty.isUnknown ? .target : .source
        }
        guard let source = changes[.source] else { return .target }
        return source.last.cluster >= target.last.cluster ? .source : .target
    }

    /// Whether both documents are listed as changed; if it is unknown which one changed, both must also exist.
    var isConflict: Bool { changes.count == 2 && (!dirty.isUnknown || documents.count == 2) }
}

extension MirrorRun {
    /// The largest number of pairs that one call of ``carry()`` carries over.
    private static var maximum: Int { 1_000 }

    /// Restores the clients' documents that the mirror overwrote.
    ///
    /// After that, the method carries over the pairs that have been in the list of changed pairs for the longest time,
    /// at most ``maximum``.
    mutating func carry() throws {
        try restoreOverwritten()
        var pairs = dirty.take(Self.maximum).compactMap { key, pair -> CarriedPair? in
            guard let twin = partner.twin(of: key.value, on: .source) else { return nil }
            return CarriedPair(
                key: key, dirty: pair, held: held[key], ids: [.source: key.value, .target: twin])
        }
        guard let time = try read(&pairs) else {
            for pair in pairs { dirty.restore(pair.key, pair.dirty) }
            return
        }
        var open = try unequal(pairs)
        if !open.isEmpty {
            try wait(until: time)
            // If the change streams show that the mirror overwrote a client's document, this batch is not written, and
            // its pairs return to the list of changed pairs. The next call of ``carry()`` first restores the client's
            // document.
            guard !kernel.stop.isRaised, unreported.overwriting.isEmpty else {
                for pair in open { dirty.restore(pair.key, pair.dirty) }
                return
            }
            for index in open.indices {
                // During `wait`, the streams may have reported more changes of this pair that clients made before the
                // pair's documents were read. The documents as read already contain these changes, so this batch
                // carries them over.
                let more = dirty.takeChanges(of: open[index].key, upTo: time)
                open[index].dirty.changes.merge(more) { $0 + $1 }
            }
            try translate(&open)
            try write(try decide(open), until: time)
        }
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        for pair in pairs { for change in pair.dirty.changes.values { lag.add(change.last, at: now) } }
    }

    // MARK: reading the documents of pairs

    /// Reads both documents of all pairs at one point in time, at or after the last known change of every pair.
    /// - Returns: that point in time; `nil` if a stop was requested before the documents could be read.
    private mutating func read(_ pairs: inout [CarriedPair]) throws -> ClusterTime? {
        let changes = pairs.flatMap { $0.dirty.changes.values.map(\.last.cluster) }
        let latest = changes.reduce(writer.lastCommit) { max($0, $1) }
        var tries = Retries(limit: mirror.options.retryLimit)
        while true {
            let (found, time): ([PartnerSide: [IDKey: BSONDocument]], ClusterTime)
            do {
                (found, time) = try kernel.retrying { try snapshot(of: pairs) }
            } catch let error as MongoError where [.snapshotTooOld, .snapshotUnavailable].contains(error.code) {
                guard let pause = tries.pause(afterFailureAt: .now) else { throw error }
                try kernel.sleep(pause)
                if kernel.stop.isRaised { return nil }
                continue
            }
            // A server that has just become primary may read at a time before `latest`, because it does not know yet
            // that a majority has the latest change.
            guard time >= latest else {
                try kernel.sleep(.milliseconds(20))
                if kernel.stop.isRaised { return nil }
                continue
            }
            for index in pairs.indices {
                for side in PartnerSide.allCases {
                    pairs[index].documents[side] = pairs[index].ids[side].flatMap { found[side]?[IDKey($0)] }
                }
            }
            return time
        }
    }

    private func snapshot(
        of pairs: [CarriedPair]
    ) throws -> (documents: [PartnerSide: [IDKey: BSONDocument]], time: ClusterTime) {
        let session = try kernel.client.startSession(isSnapshot: true)
        let options: BSONDocument = ["readConcern": ["level": "snapshot"], "comment": "shipshape mirror"]
        let source = partner.job.source
        // This read of at most one document starts the snapshot session, and thereby determines the point in time of
        // all reads in the session.
        let reply = try kernel.client.runReadCommand(
            [
                "find": .string(source.collection), "filter": ["_id": .null], "limit": 1, "projection": ["_id": 1],
            ], on: source.database, options: try session.options(adding: options))
        guard case .timestamp(let time)? = reply["cursor"]?.document?["atClusterTime"] else {
            throw RunError(.unsupportedCollection, "\(source) cannot be read at one point in time")
        }
        var found: [PartnerSide: [IDKey: BSONDocument]] = [:]
        for side in PartnerSide.allCases {
            found[side] = try IDReader(
                collection: kernel.client.collection(partner.job.namespace(side)),
                options: try session.options(adding: options)
            ).documents(pairs.compactMap { $0.ids[side] })
        }
        return (found, ClusterTime(rawValue: time))
    }

    // MARK: comparing the documents of pairs

    private func translation(from side: PartnerSide) -> Translation {
        Translation(partner: partner, side: side, collection: kernel.client.collection(partner.job.namespace(side)))
    }

    private func outcomes(_ documents: [BSONDocument], from side: PartnerSide) throws -> [Translation.Outcome] {
        guard !documents.isEmpty else { return [] }
        return try kernel.retrying { try translation(from: side).outcomes(of: documents) }
    }

    /// Returns the pairs that may have to be carried over, and removes the other pairs from the held pairs.
    ///
    /// If the original changed, the partner's document is compared with the result of the forward steps on the
    /// original. If only the partner's document changed, nothing is compared here. The reverse steps show later whether
    /// their result differs from the original.
    private mutating func unequal(_ pairs: [CarriedPair]) throws -> [CarriedPair] {
        var open: [CarriedPair] = []
        var (others, originals): ([CarriedPair], [BSONDocument]) = ([], [])
        for pair in pairs {
            if pair.documents.isEmpty || pair.changes.isEmpty && !pair.dirty.isUnknown {
                try held.release(pair.key, under: kernel)
            } else if pair.changedSides.contains(.source), let original = pair.documents[.source] {
                others.append(pair)
                originals.append(original)
            } else {
                open.append(pair)
            }
        }
        for (pair, outcome) in zip(others, try outcomes(originals, from: .source)) {
            if case .document(let document) = outcome, let there = pair.documents[.target],
                try translation(from: .source).adapted(document, to: there).hasSameFields(as: there)
            {
                try held.release(pair.key, under: kernel)
                continue
            }
            var pair = pair
            pair.made = outcome
            open.append(pair)
        }
        return open
    }

    /// Computes the write for each changed document, and stores it in the `results` of the document's pair.
    private mutating func translate(_ pairs: inout [CarriedPair]) throws {
        for side in PartnerSide.allCases {
            let changed = pairs.indices.filter { pairs[$0].changedSides.contains(side) }
            for index in changed where pairs[index].documents[side] == nil {
                pairs[index].results[side] = pairs[index].documents[side.other] == nil ? .equal : .deletion
            }
            let indexes = changed.filter { pairs[$0].documents[side] != nil }
            var made = indexes.map { side == .source ? pairs[$0].made : nil }
            let unasked = indexes.indices.filter { made[$0] == nil }
            let asked = try outcomes(unasked.compactMap { pairs[indexes[$0]].documents[side] }, from: side)
            for (place, outcome) in zip(unasked, asked) { made[place] = outcome }
            var rest: [(index: Int, document: BSONDocument, outcome: Translation.Outcome)] = []
            for (index, outcome) in zip(indexes, made) {
                guard let outcome, let document = pairs[index].documents[side] else { continue }
                // If ``unequal(_:)`` has set `made`, it has also found that the result does not match the partner's
                // document, so the two are not compared again.
                let isKnown = side == .source && pairs[index].made != nil
                if !isKnown, case .document(let one) = outcome, let there = pairs[index].documents[side.other],
                    try translation(from: side).adapted(one, to: there).hasSameFields(as: there)
                {
                    pairs[index].results[side] = .equal
                } else {
                    rest.append((index, document, outcome))
                }
            }
            guard !rest.isEmpty else { continue }
            let proven = try kernel.retrying {
                try translation(from: side).proven(rest.map(\.outcome), of: rest.map(\.document))
            }
            for (pair, outcome) in zip(rest, proven) {
                switch outcome {
                case .document(let document):
                    pairs[pair.index].results[side] = .document(
                        try translation(from: side).adapted(document, to: pairs[pair.index].documents[side.other]))
                case .refused(let refusal): pairs[pair.index].results[side] = .refused(refusal)
                }
            }
        }
    }

    // MARK: deciding which documents to write

    /// Returns one write for each pair that has to be written; the write carries the changed document over.
    ///
    /// If both documents changed, the later change wins. If a change cannot be carried over, its pair becomes a held
    /// pair.
    private mutating func decide(_ pairs: [CarriedPair]) throws -> [PairWrite] {
        var writes: [PairWrite] = []
        for pair in pairs {
            let results = pair.results
            if results.values.contains(where: { if case .equal = $0 { true } else { false } }) {
                try held.release(pair.key, under: kernel)
                continue
            }
            let refused = PartnerSide.allCases.compactMap { side -> (PartnerSide, Refusal)? in
                if case .refused(let refusal)? = results[side] { (side, refusal) } else { nil }
            }
            if let (side, refusal) = refused.first(where: { $0.0 == pair.lastChanged }) ?? refused.first {
                try hold(pair, side, refusal)
                continue
            }
            if let before = pair.held, before.holder != nil || before.refusal.serverCode != nil,
                !pair.dirty.changes.isEmpty, pair.dirty.changes[before.side] == nil, pair.documents[before.side] != nil
            {
                // The server has refused the pair's document on `before.side`, and this document has not changed since.
                // Only the pair's other document has changed, so the server would refuse this one again.
                try hold(pair, before.side, before.refusal, holder: before.holder)
                continue
            }
            let origin = pair.lastChanged
            guard let result = results[origin] else { continue }
            if pair.isConflict {
                if pair.held?.isConflict != true { counts.conflicts += 1 }
                mirror.events(.conflict(id: pair.key.value, winner: origin))
            }
            let after: BSONDocument? = if case .document(let document) = result { document } else { nil }
            writes.append(PairWrite(pair: pair, origin: origin, after: after))
        }
        return writes
    }

    /// Adds a pair to the held pairs, because its document on the given side cannot be carried over.
    ///
    /// The mirror reports the pair if it was not held before for this reason.
    mutating func hold(
        _ pair: CarriedPair, _ side: PartnerSide, _ refusal: Refusal, holder: IDKey? = nil
    ) throws {
        var changes = pair.changes
        if changes[side] == nil {
            changes[side] = DirtyPairs.Change(at: ChangeTime(cluster: ClusterTime(rawValue: 0)))
        }
        if pair.dirty.isUnknown, pair.held?.isConflict != true { changes[side.other] = nil }
        let (isNew, isNewConflict) = try held.hold(
            pair.key, HeldPairs.Held(side: side, refusal: refusal, changes: changes, holder: holder), under: kernel)
        if isNew { mirror.events(.refused(side, refusal)) }
        if isNewConflict {
            counts.conflicts += 1
            mirror.events(.conflict(id: pair.key.value, winner: nil))
        }
    }
}
