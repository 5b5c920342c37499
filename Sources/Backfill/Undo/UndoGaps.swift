import BSON
import Mongo

/// Documents that the job may have changed without a journal: they came, or were changed, between the two.
struct UndoGaps {
    /// The most that are looked at in a chunk.
    private static let most = 10_000
    private static let samples = 5

    private var gaps: [(chunk: UnjournaledChunk, candidates: Set<BSONValue>)] = []

    /// Looks for what the job may have written in these chunks; never touches it.
    init(_ subject: UndoSubject, in collection: MongoCollection) throws {
        for chunk in subject.gaps {
            guard let phases = subject.job?.phases, phases.indices.contains(chunk.phase) else {
                gaps.append((chunk, []))
                continue
            }
            let phase = phases[chunk.phase]
            let looksWritten = Expression.any(
                phase.steps.map { step in
                    step.step.target.isReachable && .same(.field(step.step.target), step.step.kind.body().value)
                })
            var cursor = collection.aggregate(
                [
                    ["$match": .object(Expression.all([chunk.chunk.membership, !phase.needs, looksWritten]).filter)],
                    ["$limit": .integer(Self.most)], ["$project": ["_id": 1]],
                ], options: ["hint": ["_id": 1], "comment": "shipshape undo"])
            var candidates: Set<BSONValue> = []
            while let document = try cursor.nextDocument() { if let id = document["_id"] { candidates.insert(id) } }
            gaps.append((chunk, candidates))
        }
    }

    /// A document is in the journal.
    mutating func found(_ id: BSONValue) { for index in gaps.indices { gaps[index].candidates.remove(id) } }

    var report: [UndoReport.Gap] {
        gaps.map { chunk, candidates in
            UndoReport.Gap(
                after: chunk.chunk.after, through: chunk.chunk.through, missing: chunk.changed - chunk.journaled,
                candidates: candidates.count,
                samples: candidates.sorted { BSONOrder.precedes($0, $1) }.prefix(Self.samples).map { $0 })
        }
    }
}
