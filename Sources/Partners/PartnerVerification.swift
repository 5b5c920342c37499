package import BSON
package import Concurrency
import Following
import JobState
import Jobs
package import Mongo
import Running
import Scanning
import Steps

/// A pair whose documents do not match: a document of the original collection and its counterpart in the partner
/// collection.
package struct PairDifference: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The partner collection has no counterpart of a document of the original collection.
        case missingInTarget
        /// The original collection has no counterpart of a document of the partner collection.
        case missingInSource
        /// Both documents exist, but the given fields of the partner's document differ from the result of the forward
        /// steps.
        case differing([String])
        /// The document on the given side cannot be carried over to the other collection, for the given reason.
        case refused(PartnerSide, Refusal.Reason)

        /// The side, original or partner, whose document reports name for the difference.
        ///
        /// If only one document of the pair exists, this is the side of that document. If both exist but differ, this
        /// is the original's side. If a document is refused, this is the side of the refused document.
        package var side: PartnerSide {
            switch self {
            case .missingInTarget, .differing: .source
            case .missingInSource: .target
            case .refused(let side, _): side
            }
        }
    }

    /// The `_id` of the original document; for a document of the partner collection whose `_id` cannot be converted to
    /// an original's `_id`, the `_id` of that document.
    package var id: BSONValue
    package var kind: Kind
}

/// The result of comparing an original collection with its partner collection.
package struct PartnerComparison: Sendable {
    package var name: String
    /// The original collection.
    package var source: Namespace
    package var target: Namespace
    /// The number of originals that were compared.
    package var originals = 0
    /// The number of the partner's documents that were compared.
    package var partners = 0
    /// The differences; at most 1,000 are kept.
    package var differences: [PairDifference] = []
    /// The number of all differences.
    package var count = 0
    /// The number of pairs that were compared again, because they differed in the scan or changed during it.
    ///
    /// A pair is counted twice if both of its documents changed.
    package var rechecked = 0
    /// The point in time at which the pairs were last compared; `nil` if the server cannot read at one point in time.
    package var time: ClusterTime?
    /// The duration of the whole comparison, in seconds.
    package var seconds = 0.0
}

/// Compares an original collection with its partner collection by the job's steps; writes nothing.
///
/// A scan reads every document of both collections once. Pairs that differ, or change during the scan, are compared
/// again, at one point in time if the server supports that. Pairs that still differ are compared every half second
/// until ``settling`` has passed, because a running mirror might not have copied the latest changes to the other
/// collection yet.
package struct PartnerVerification: Sendable {
    let partner: Partner
    let retryLimit: Duration
    /// The longest time for which pairs that differ are compared again.
    let settling: Duration
    let stop: StopSignal
    let progress: @Sendable (Int) -> Void

    /// Creates a verification.
    /// - Parameter progress: receives the number of documents that were compared since its last call.
    package init(
        _ partner: Partner, settling: Duration, retryLimit: Duration = .seconds(60), stop: StopSignal,
        progress: @Sendable @escaping (Int) -> Void
    ) {
        (self.partner, self.settling, self.retryLimit, self.stop) = (partner, settling, retryLimit, stop)
        self.progress = progress
    }

    private static let maximumKept = 1_000
    private static let maximumRechecked = 200_000

    private struct Part: Sendable {
        var documents = 0
        var open: [Pair] = []

        static func + (left: Part, right: Part) -> Part {
            Part(documents: left.documents + right.documents, open: left.open + right.open)
        }
    }

    /// A pair of documents, identified by the side and the `_id` of one of them.
    private struct Pair: Hashable {
        var id: IDKey
        var side: PartnerSide
    }

    private var retry: RetryPolicy { RetryPolicy(limit: retryLimit, stop: stop, events: { _ in }) }

    /// Compares the two collections, and blocks until the comparison has ended.
    /// - Throws: ``RunError`` when one of the two collections does not exist, or is dropped or renamed; ``MongoError``;
    ///   ``StopAsked``, or ``RunError`` of kind `stopped`, when a stop is requested.
    package func run(on pool: ClientPool) throws -> PartnerComparison {
        let started = ContinuousClock.now
        var comparison = PartnerComparison(
            name: partner.job.name, source: partner.job.source, target: partner.job.target)
        let client = try pool.client()
        for side in PartnerSide.allCases {
            let namespace = partner.job.namespace(side)
            guard try retry.run({ try client.readableCollection(namespace) }) == nil else { continue }
            throw RunError(.unknownCollection, "there is no collection \(namespace): nothing is compared")
        }
        let start = try retry.run { try client.operationTime() }
        let changesArrived = Semaphore()
        let feeds = PartnerSide.allCases.filter { _ in start > 0 }.map { side in
            (
                side,
                ChangeFeed(
                    partner.job.namespace(side), from: .at(ClusterTime(rawValue: start)), on: pool,
                    changesArrived: changesArrived,
                    retryLimit: retryLimit)
            )
        }
        defer { for (_, feed) in feeds { feed.close() } }
        var open: Set<Pair> = []
        for side in PartnerSide.allCases {
            let collection = client.collection(partner.job.namespace(side))
            let parts = try retry.run { try CollectionParts(of: collection, for: partner.job.limits.concurrency) }
            let part = try parts.reduce(Part(), on: pool, and: collection) { filter, collection in
                try retry.run { try compare(at: filter, on: side, of: collection) }
            } combining: {
                $0 + $1
            }
            if side == .source { comparison.originals = part.documents } else { comparison.partners = part.documents }
            open.formUnion(part.open)
        }
        let end = ClusterTime(rawValue: try retry.run { try client.operationTime() })
        for (side, feed) in feeds {
            var time = ClusterTime(rawValue: 0)
            while time < end {
                guard !stop.isRaised else { throw StopAsked() }
                guard let batch = try changes(of: feed) else {
                    _ = changesArrived.wait(milliseconds: 100)
                    continue
                }
                open.formUnion(batch.ids.map { Pair(id: IDKey($0), side: side) })
                time = batch.time
            }
        }
        try recheck(Array(open.prefix(Self.maximumRechecked)), client, &comparison)
        comparison.count += max(0, open.count - Self.maximumRechecked)
        comparison.seconds = started.duration(to: .now).seconds
        return comparison
    }

    private func changes(of feed: ChangeFeed) throws -> ChangeFeed.Batch? {
        do throws(ChangeFeed.End) {
            return try feed.take()
        } catch {
            switch error {
            case .failed(let error): throw error
            case .lost(let message):
                throw RunError(
                    .unsupportedCollection,
                    "the changes of \(feed.namespace) during the comparison are lost (\(message)): verify again; if it "
                        + "happens again, enlarge the oplog")
            case .dropped, .renamed:
                throw RunError(
                    .unknownCollection, "\(feed.namespace) was dropped or renamed during the comparison: verify again")
            }
        }
    }

    // MARK: the scan

    private func compare(at filter: BSONDocument, on side: PartnerSide, of collection: MongoCollection) throws -> Part {
        var part = Part()
        let options: BSONDocument = ["readConcern": ["level": "majority"], "comment": "shipshape partner verify"]
        var chunks = DocumentChunks(collection.find(filter, options: options))
        while let chunk = try chunks.next() {
            guard !stop.isRaised else { throw StopAsked() }
            let differing = try compare(chunk, on: side, collection, options)
            part.documents += chunk.count
            part.open += differing.map { Pair(id: IDKey($0.0), side: side) }
            progress(chunk.count)
        }
        return part
    }

    /// Returns the `_id` of each document of one side that does not match its counterpart, with the kind of the
    /// difference.
    ///
    /// An original is compared with its partner document in all fields. For a document of the partner, the method only
    /// checks whether its original exists, because the comparison of the originals finds all other differences.
    private func compare(
        _ documents: [BSONDocument], on side: PartnerSide, _ collection: MongoCollection, _ options: BSONDocument
    ) throws -> [(BSONValue, PairDifference.Kind)] {
        var differences: [(BSONValue, PairDifference.Kind)] = []
        let translation = Translation(partner: partner, side: side, collection: collection)
        let ids = documents.map { $0["_id"] ?? .undefined }
        let twins = ids.map { partner.twin(of: $0, on: side) }
        let other = collection.sibling(partner.job.namespace(side.other))
        let present = try Self.read(twins.compactMap(\.self), of: other, options, whole: side == .source)
        guard side == .source else {
            for (id, twin) in zip(ids, twins) where twin.flatMap({ present[IDKey($0)] }) == nil {
                differences.append((id, twin == nil ? .refused(.target, .id) : .missingInSource))
            }
            return differences
        }
        for (id, outcome) in zip(ids, try translation.outcomes(of: documents)) {
            switch outcome {
            case .refused(let refusal): differences.append((id, .refused(.source, refusal.reason)))
            case .document(let made):
                guard let there = present[IDKey(made["_id"] ?? .undefined)] else {
                    differences.append((id, .missingInTarget))
                    continue
                }
                let fields = try translation.adapted(made, to: there).differing(from: there)
                if !fields.isEmpty { differences.append((id, .differing(fields))) }
            }
        }
        return differences
    }

    private static func read(
        _ ids: [BSONValue], of collection: MongoCollection, _ options: BSONDocument, whole isWhole: Bool
    ) throws -> [IDKey: BSONDocument] {
        guard !ids.isEmpty else { return [:] }
        let options = isWhole ? options : options.appending("projection", ["_id": 1])
        return try IDReader(collection: collection, options: options).documents(ids)
    }

    // MARK: repeated comparisons

    /// Compares pairs again until none differs or ``settling`` has passed, and stores the differences.
    private func recheck(
        _ pairs: [Pair], _ client: borrowing Client, _ comparison: inout PartnerComparison
    ) throws {
        comparison.rechecked = pairs.count
        var open = pairs
        let end = ContinuousClock.now + settling
        var differences: [PairDifference] = []
        repeat {
            guard !stop.isRaised else { throw StopAsked() }
            let rechecked = try retry.run { try compare(again: open, client) }
            (differences, comparison.time) = (rechecked.differences, rechecked.time)
            open = rechecked.open
            if !open.isEmpty, .now < end { PosixThread.sleep(.milliseconds(500), unless: { stop.isRaised }) }
        } while !open.isEmpty && .now < end
        comparison.count += differences.count
        comparison.differences = Array(differences.prefix(Self.maximumKept))
    }

    private func compare(
        again pairs: [Pair], _ client: borrowing Client
    ) throws -> (differences: [PairDifference], open: [Pair], time: ClusterTime?) {
        let session = try client.startSession(isSnapshot: true)
        // This read of at most one document starts the snapshot session. It determines the point in time of all reads
        // in the session.
        let source = client.collection(partner.job.source)
        var time: ClusterTime?
        var options: BSONDocument
        do throws(MongoError) {
            let reply = try client.runReadCommand(
                [
                    "find": .string(partner.job.source.collection), "filter": ["_id": .null], "limit": 1,
                    "projection": ["_id": 1],
                ], on: partner.job.source.database, options: try session.options(adding: Self.snapshot))
            if case .timestamp(let stamp)? = reply["cursor"]?.document?["atClusterTime"] {
                time = ClusterTime(rawValue: stamp)
            }
            options = try session.options(adding: Self.snapshot)
        } catch {
            guard !error.isCursorLost else { throw error }
            options = ["readConcern": ["level": "majority"], "comment": "shipshape partner verify"]
        }
        var (differences, open): ([PairDifference], [Pair]) = ([], [])
        for start in stride(from: 0, to: pairs.count, by: 500) {
            let part = pairs[start..<min(start + 500, pairs.count)]
            for side in PartnerSide.allCases {
                let ids = part.filter { $0.side == side }.map(\.id.value)
                let documents = try Self.read(
                    ids, of: source.sibling(partner.job.namespace(side)), options, whole: true)
                // A pair may be listed only under its partner document, for example because only that document changed.
                // All fields of the partner document are therefore compared here, too, if its original exists.
                let found = try compareWhole(Array(documents.values), on: side, source, options)
                let gone = ids.filter { documents[IDKey($0)] == nil }
                let left = try compareGone(gone, on: side, source, options)
                for (id, kind) in found + left {
                    let known = partner.key(of: id, on: side)?.value ?? id
                    let difference = PairDifference(id: known, kind: kind)
                    if !differences.contains(difference) { differences.append(difference) }
                    open.append(Pair(id: IDKey(id), side: side))
                }
            }
        }
        return (differences, open, time)
    }

    /// Compares all fields of a side's documents with their counterparts.
    ///
    /// A document of the partner is compared with the result of the forward steps on its original.
    private func compareWhole(
        _ documents: [BSONDocument], on side: PartnerSide, _ source: MongoCollection, _ options: BSONDocument
    ) throws -> [(BSONValue, PairDifference.Kind)] {
        let collection = source.sibling(partner.job.namespace(side))
        let found = try compare(documents, on: side, collection, options)
        guard side == .target else { return found }
        let orphans = Set(found.map { IDKey($0.0) })
        let others = documents.compactMap { $0["_id"] }.filter { !orphans.contains(IDKey($0)) }
        let originals = try Self.read(
            others.compactMap { partner.twin(of: $0, on: .target) }, of: source, options, whole: true)
        let differing = try compare(Array(originals.values), on: .source, source, options)
        return found + differing.compactMap { id, kind in partner.twin(of: id, on: .source).map { ($0, kind) } }
    }

    /// Returns a difference for each document that no longer exists on the given side, although its counterpart exists.
    private func compareGone(
        _ ids: [BSONValue], on side: PartnerSide, _ source: MongoCollection, _ options: BSONDocument
    ) throws -> [(BSONValue, PairDifference.Kind)] {
        let twins = ids.compactMap { id in partner.twin(of: id, on: side).map { (id, $0) } }
        let left = try Self.read(
            twins.map(\.1), of: source.sibling(partner.job.namespace(side.other)), options, whole: false)
        return twins.filter { left[IDKey($0.1)] != nil }.map {
            ($0.0, side == .source ? .missingInSource : .missingInTarget)
        }
    }

    private static var snapshot: BSONDocument {
        ["readConcern": ["level": "snapshot"], "comment": "shipshape partner verify"]
    }
}
