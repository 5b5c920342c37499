import BSON
import Concurrency
import Following
import Foundation
import JobState
import Jobs
import Mongo
import Running
import Scanning

/// A pair that is being carried over.
struct CarriedPair {
    /// The effect on the other document if this one is carried over.
    enum Result {
        /// The other document is replaced by the given one, or inserted.
        case document(BSONDocument)
        /// The other document is deleted, because this one no longer exists.
        case deletion
        /// The other document already fits this one.
        case equal
        /// The other document cannot exist.
        case refused(Refusal)
    }

    let key: IDKey
    /// The new changes, and whether they are known.
    var dirty: DirtyPairs.Pair
    /// The reason why the pair is held; `nil` if it is not held.
    let held: HeldPairs.Held?
    /// The `_id` on each side.
    let ids: [PartnerSide: BSONValue]
    /// The documents as they were read.
    var documents: [PartnerSide: BSONDocument] = [:]
    /// The partner's document that the steps make from the original, if it was already computed; the steps back were
    /// not checked.
    var made: Translation.Outcome?
    /// The effects of the changed documents, by their side.
    var results: [PartnerSide: Result] = [:]

    /// All waiting changes: the new ones, and those that could not be carried over before.
    var changes: [PartnerSide: DirtyPairs.Change] { dirty.changes.merging(held?.changes ?? [:]) { $0 + $1 } }

    /// The sides whose documents may have to be carried over.
    var changedSides: [PartnerSide] {
        guard dirty.isUnknown else { return PartnerSide.allCases.filter { changes[$0] != nil } }
        let side: PartnerSide = documents[.source] == nil ? .target : .source
        return PartnerSide.allCases.filter { $0 == side || $0 == held?.side }
    }

    /// The side that changed last.
    var lastChanged: PartnerSide {
        guard !dirty.isUnknown, let target = changes[.target] else {
            return documents[.source] == nil && dirty.isUnknown ? .target : .source
        }
        guard let source = changes[.source] else { return .target }
        return source.last.cluster >= target.last.cluster ? .source : .target
    }

    /// Whether both documents changed, or might have.
    var isConflict: Bool { changes.count == 2 && (!dirty.isUnknown || documents.count == 2) }
}

extension MirrorRun {
    /// The most pairs that are carried over at once.
    private static var most: Int { 1_000 }

    /// Carries the first pairs over.
    mutating func carry() throws {
        var pairs = dirty.take(Self.most).compactMap { key, pair -> CarriedPair? in
            guard let twin = partner.twin(of: key.value, on: .source) else { return nil }
            return CarriedPair(
                key: key, dirty: pair, held: held[key], ids: [.source: key.value, .target: twin])
        }
        let time = try read(&pairs)
        var open = try unequal(pairs)
        if !open.isEmpty {
            try wait(until: time)
            guard !kernel.stop.isRaised else {
                for pair in open { dirty.restore(pair.key, pair.dirty) }
                return
            }
            for index in open.indices {
                // The documents that were read already contain the changes that the streams have reported since.
                let more = dirty.takeChanges(of: open[index].key, upTo: time)
                open[index].dirty.changes.merge(more) { $0 + $1 }
            }
            try translate(&open)
            try write(try decide(open), until: time)
        }
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        for pair in pairs { for change in pair.dirty.changes.values { delays.add(change.last, at: now) } }
    }

    // MARK: reading

    /// Reads both documents of each pair, all at one point in time that is not before any of their changes.
    /// - Returns: that point in time.
    private mutating func read(_ pairs: inout [CarriedPair]) throws -> ClusterTime {
        let latest = pairs.flatMap { $0.dirty.changes.values.map(\.last.cluster) }.max() ?? ClusterTime(rawValue: 0)
        var tries = Retries(limit: mirror.options.retryLimit)
        while true {
            let (found, time): ([PartnerSide: [IDKey: BSONDocument]], ClusterTime)
            do {
                (found, time) = try kernel.retrying { try snapshot(of: pairs) }
            } catch let error as MongoError where [.snapshotTooOld, .snapshotUnavailable].contains(error.code) {
                guard let pause = tries.pause(afterFailureAt: .now) else { throw error }
                try kernel.sleep(pause)
                if kernel.stop.isRaised { throw StopAsked() }
                continue
            }
            // A server that has just become primary might not yet know that a majority has the change.
            guard time >= latest else {
                try kernel.sleep(.milliseconds(20))
                if kernel.stop.isRaised { throw StopAsked() }
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
        // The session's first read sets the point in time of all its reads.
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

    // MARK: comparing

    private func translation(from side: PartnerSide) -> Translation {
        Translation(partner: partner, side: side, collection: kernel.client.collection(partner.job.namespace(side)))
    }

    private func outcomes(_ documents: [BSONDocument], from side: PartnerSide) throws -> [Translation.Outcome] {
        guard !documents.isEmpty else { return [] }
        return try kernel.retrying { try translation(from: side).outcomes(of: documents) }
    }

    /// Returns the pairs whose documents do not match, judged by the originals, and releases the others.
    ///
    /// A pair in which only the partner's document changed is compared later, by the steps back.
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
                try translation(from: .source).beside(document, there).hasSameFields(as: there)
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

    /// Computes the effects of the changed documents.
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
                // The originals that were already translated are known to differ.
                let isKnown = side == .source && pairs[index].made != nil
                if !isKnown, case .document(let one) = outcome, let there = pairs[index].documents[side.other],
                    try translation(from: side).beside(one, there).hasSameFields(as: there)
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
                        try translation(from: side).beside(document, pairs[pair.index].documents[side.other]))
                case .refused(let refusal): pairs[pair.index].results[side] = .refused(refusal)
                }
            }
        }
    }

    // MARK: deciding

    /// Returns the write for each pair: the result of the changed document on the other side.
    ///
    /// If both documents changed, the later change wins. A pair with a change that cannot be carried over is held
    /// instead.
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
                // The server refused that document, and it has not changed, so the other document's change does not
                // resolve this.
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

    /// Holds a pair with a change that cannot be carried over.
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
