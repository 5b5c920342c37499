import BSON
import Backfill
import Concurrency
import Following
import Foundation
import Jobs
import Mongo

/// A pair that is being seen to.
struct CarriedPair {
    let key: IDKey
    var dirty: DirtyPairs.Pair
    /// The `_id` on each side.
    let ids: [PartnerSide: BSONValue]
    /// The documents as they were read.
    var documents: [PartnerSide: BSONDocument] = [:]
    /// Which of the sides' changes are the mirror's own.
    var isEcho = false
    /// The side whose state goes over; `nil` where there is nothing to do.
    var origin: PartnerSide?
    /// What the original is on the other side, where that was asked already.
    var made: Translation.Outcome?
    /// What the other side's document becomes; `nil` deletes it.
    var result: BSONDocument?
}

extension MirrorRun {
    /// Documents that are seen to at once.
    private static let most = 1_000

    /// Makes the first pairs equal.
    mutating func carry() throws {
        var pairs = dirty.take(Self.most).compactMap { key, pair -> CarriedPair? in
            partner.twin(of: key.value, on: .source).map {
                CarriedPair(key: key, dirty: pair, ids: [.source: key.value, .target: $0])
            }
        }
        let read = try self.read(&pairs)
        for index in pairs.indices { discount(&pairs[index]) }
        var open = try unequal(pairs)
        if !open.isEmpty {
            try wait(until: read)
            if kernel.stop.isRaised {
                for pair in open { dirty.restore(pair.key, pair.dirty) }
                return
            }
            for index in open.indices { decide(&open[index]) }
            try translate(&open)
            try write(open.filter { $0.origin != nil })
        }
        for (side, time) in pairs.flatMap({ Array($0.dirty.times) })
        where time.cluster > clients[side] ?? ClusterTime(rawValue: 0) { clients[side] = time.cluster }
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        for pair in pairs where !pair.isEcho { for time in pair.dirty.times.values { delays.add(time, at: now) } }
    }

    /// Reads both documents of each pair.
    /// - Returns: the time at which they were read, at the latest.
    private mutating func read(_ pairs: inout [CarriedPair]) throws -> ClusterTime {
        let latest = pairs.flatMap { $0.dirty.times.values.map(\.cluster.rawValue) }.max() ?? 0
        let (found, time) = try kernel.retrying {
            let session = try kernel.client.startSession()
            session.advance(to: latest)
            let options: BSONDocument = ["readConcern": ["level": "majority"], "comment": "shipshape mirror"]
            var found: [PartnerSide: [IDKey: BSONDocument]] = [:]
            for side in PartnerSide.allCases {
                let collection = kernel.client.collection(partner.job.namespace(side))
                let ids = pairs.compactMap { $0.ids[side] }
                let documents = try collection.find(
                    ["_id": ["$in": .array(of: ids)]], options: try session.options(adding: options)
                ).documents()
                found[side] = Dictionary(documents.map { (IDKey($0["_id"] ?? .undefined), $0) }) { first, _ in first }
            }
            return (found, session.operationTime)
        }
        for index in pairs.indices {
            for side in PartnerSide.allCases {
                pairs[index].documents[side] = pairs[index].ids[side].flatMap { found[side]?[IDKey($0)] }
            }
        }
        return ClusterTime(rawValue: max(time, latest))
    }

    /// Takes the changes away that the mirror made itself.
    private mutating func discount(_ pair: inout CarriedPair) {
        for (side, time) in pair.dirty.times {
            guard own.holds(pair.documents[side], side, pair.key, changed: time.cluster) else { continue }
            pair.dirty.times[side] = nil
            pair.isEcho = true
            counts.echoes += 1
        }
    }

    /// Those whose two documents are not each other's, as far as the originals tell.
    ///
    /// Of a pair of which only the partner changed, the way back is asked, and that later.
    private mutating func unequal(_ pairs: [CarriedPair]) throws -> [CarriedPair] {
        // What only the mirror itself changed is as it left it.
        let changed = pairs.filter { !$0.dirty.times.isEmpty }
        var open = changed.filter { $0.dirty.times[.source] == nil }
        let others = changed.filter { $0.dirty.times[.source] != nil }
        let originals = others.filter { $0.documents[.source] != nil }
        var made: [IDKey: Translation.Outcome] = [:]
        for (pair, outcome) in zip(
            originals, try outcomes(originals.compactMap { $0.documents[.source] }, from: .source))
        {
            made[pair.key] = outcome
        }
        for var pair in others {
            pair.made = made[pair.key]
            switch (pair.made, pair.documents[.target]) {
            case (nil, nil): try settled(pair)
            case (.document(let document)?, let there?):
                let whole = try translation(from: .source).beside(document, there)
                if whole.hasSameFields(as: there) { try settled(pair) } else { open.append(pair) }
            default: open.append(pair)
            }
        }
        return open
    }

    /// A pair whose documents are each other's.
    private mutating func settled(_ pair: CarriedPair) throws {
        for (side, id) in pair.ids { try unmirrored.remove(id, side, under: kernel) }
    }

    private func translation(from side: PartnerSide) -> Translation {
        Translation(partner: partner, side: side, collection: kernel.client.collection(partner.job.namespace(side)))
    }

    private func outcomes(_ documents: [BSONDocument], from side: PartnerSide) throws -> [Translation.Outcome] {
        guard !documents.isEmpty else { return [] }
        return try kernel.retrying { try translation(from: side).outcomes(of: documents) }
    }

    /// Says which side goes over: the one that changed; where both did, the one that changed later.
    private mutating func decide(_ pair: inout CarriedPair) {
        // What came meanwhile is of this pair, too.
        for (side, time) in dirty.pairs[pair.key]?.times ?? [:]
        where !own.holds(pair.documents[side], side, pair.key, changed: time.cluster) { pair.dirty.times[side] = time }
        let (source, target) = (pair.dirty.times[.source], pair.dirty.times[.target])
        if pair.dirty.isUnknown {
            pair.origin = pair.documents[.source] == nil ? .target : .source
        } else if let source, let target {
            pair.origin = source.cluster >= target.cluster ? .source : .target
        } else {
            pair.origin = source != nil ? .source : target != nil ? .target : nil
        }
        let isBoth = pair.documents.count == 2 || !pair.dirty.isUnknown
        guard source != nil, target != nil, isBoth, let winner = pair.origin else { return }
        counts.conflicts += 1
        mirror.events(.conflict(id: pair.key.value, winner: winner))
    }

    /// Makes the other side's documents.
    private mutating func translate(_ pairs: inout [CarriedPair]) throws {
        for index in pairs.indices where pairs[index].documents.isEmpty {
            pairs[index].origin = nil
            try settled(pairs[index])
        }
        for side in PartnerSide.allCases {
            let indexes = pairs.indices.filter { pairs[$0].origin == side && pairs[$0].documents[side] != nil }
            var made = indexes.map { side == .source ? pairs[$0].made : nil }
            let unasked = indexes.indices.filter { made[$0] == nil }
            let asked = try outcomes(unasked.compactMap { pairs[indexes[$0]].documents[side] }, from: side)
            for (place, outcome) in zip(unasked, asked) { made[place] = outcome }
            var rest: [(index: Int, document: BSONDocument, outcome: Translation.Outcome)] = []
            for (index, outcome) in zip(indexes, made) {
                guard let outcome, let document = pairs[index].documents[side] else { continue }
                if case .document(let one) = outcome, let there = pairs[index].documents[side.other],
                    try translation(from: side).beside(one, there).hasSameFields(as: there)
                {
                    pairs[index].origin = nil
                    try settled(pairs[index])
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
                    pairs[pair.index].result = try translation(from: side).beside(
                        document, pairs[pair.index].documents[side.other])
                case .refused(let refusal):
                    pairs[pair.index].origin = nil
                    try unmirrored.add(refusal, side, under: kernel, mirror.events)
                }
            }
        }
    }

    /// Writes what is not there yet, each pair only while it is as it was read.
    private mutating func write(_ pairs: [CarriedPair]) throws {
        let pairs = pairs.filter { pair in
            pair.result != nil || pair.origin.map { pair.documents[$0.other] != nil } ?? false
        }
        guard !pairs.isEmpty else { return }
        var own = own
        let writes = pairs.compactMap { pair in
            pair.origin.map { (side: $0.other, key: pair.key, document: pair.result) }
        }
        try own.begin(writes, under: kernel)
        for side in PartnerSide.allCases {
            let group = pairs.filter { $0.origin == side.other }
            guard !group.isEmpty else { continue }
            let writer = PairWriter(namespace: partner.job.namespace(side))
            let byID = Dictionary(group.compactMap { pair in pair.ids[side].map { (IDKey($0), pair) } }) { one, _ in one
            }
            let inserts = group.filter { $0.documents[side] == nil }.compactMap(\.result)
            var outcome = try writer.insert(inserts, where: .tell, under: &kernel)
            let changes = group.compactMap { pair in
                pair.documents[side].map { PairWriter.Change(before: $0, after: pair.result) }
            }
            let changed = try writer.change(changes, under: &kernel)
            outcome.refused += changed.refused
            outcome.unchanged += changed.unchanged
            for (id, code) in outcome.refused {
                guard let pair = byID[IDKey(id)] else { continue }
                own.forget(side, pair.key)
                let refusal = Refusal(id: pair.ids[side.other] ?? id, reason: .server(code))
                try unmirrored.add(refusal, side.other, under: kernel, mirror.events)
            }
            let refusedIDs = Set(outcome.refused.map { IDKey($0.id) })
            for id in outcome.unchanged where !refusedIDs.contains(IDKey(id)) {
                guard let pair = byID[IDKey(id)] else { continue }
                own.forget(side, pair.key)
                dirty.restore(pair.key, pair.dirty)
            }
            let failed = refusedIDs.union(outcome.unchanged.map { IDKey($0) })
            counts.carried[side.other, default: 0] += group.count - failed.count
            for (id, pair) in byID where !failed.contains(id) {
                if pair.isEcho, pair.dirty.times.isEmpty { counts.echoesWritten += 1 }
                for (side, id) in pair.ids { try unmirrored.remove(id, side, under: kernel) }
            }
        }
        own.end(at: ClusterTime(rawValue: try kernel.retrying { try kernel.client.operationTime() }))
        self.own = own
    }
}
