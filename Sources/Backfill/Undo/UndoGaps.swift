import BSON
import Mongo

/// Documents that the job may have changed without a journal: they came, or were changed, between the two.
struct UndoGaps {
    /// The most that are looked at in a chunk.
    private static let most = 10_000
    private static let samples = 5

    private var gaps: [(chunk: UnjournaledChunk, candidates: Set<BSONValue>?)] = []

    /// Looks for what the job may have written in these chunks; never touches it.
    init(_ subject: UndoSubject, in collection: MongoCollection) throws {
        for chunk in subject.gaps {
            guard let phases = subject.job?.phases, phases.indices.contains(chunk.phase),
                let looksWritten = phases[chunk.phase].looksWritten
            else {
                gaps.append((chunk, nil))
                continue
            }
            let isDone = Expression.all([chunk.chunk.membership, !phases[chunk.phase].needs])
            var cursor = collection.aggregate(
                [["$match": .object(isDone.filter)] as BSONDocument] + looksWritten
                    + [["$limit": .integer(Self.most)], ["$project": ["_id": 1]]],
                options: ["hint": ["_id": 1], "comment": "shipshape undo"])
            var candidates: Set<BSONValue> = []
            while let document = try cursor.nextDocument() { if let id = document["_id"] { candidates.insert(id) } }
            gaps.append((chunk, candidates))
        }
    }

    /// A document is in the journal.
    mutating func found(_ id: BSONValue) { for index in gaps.indices { gaps[index].candidates?.remove(id) } }

    var report: [UndoReport.Gap] {
        gaps.map { chunk, candidates in
            UndoReport.Gap(
                after: chunk.chunk.after, through: chunk.chunk.through, missing: chunk.changed - chunk.journaled,
                candidates: candidates?.count,
                samples: candidates?.sorted { BSONOrder.precedes($0, $1) }.prefix(Self.samples).map { $0 } ?? [])
        }
    }
}

extension Phase {
    /// The stages that leave of the documents that do not need the phase those that look as if it had written them;
    /// `nil` where no document tells.
    fileprivate var looksWritten: [BSONDocument]? {
        guard steps.allSatisfy(\.showsItsWork) else { return nil }
        // What a step would write is asked only where it is wanted: elsewhere its operators refuse what they find.
        let bare = steps.indices.map { "without\($0)" }
        let copies = (["is"] + bare).map { ($0, "$$ROOT" as BSONValue) }
        let targets = zip(bare, steps).flatMap { bare, step in
            step.step.targets.map { BSONValue.string("\(bare).\($0)") }
        }
        let wrote = zip(bare, steps).map { bare, step -> Expression in
            let target = Expression.let(["CURRENT": Expression("$$ROOT.is")], in: .field(step.step.target))
            return .let(
                ["CURRENT": Expression(.string("$\(bare)"))],
                in: .all([step.needs, .same(target, step.step.kind.body().value)]))
        }
        return [
            ["$project": .object(BSONDocument([("_id", 1)] + copies))], ["$unset": .array(of: targets)],
            ["$match": .object(Expression.any(wrote).filter)],
        ]
    }
}

extension CompiledStep {
    /// Whether a written document still tells what the step made its target of.
    fileprivate var showsItsWork: Bool {
        client == nil && !step.kind.changesInPlace && step.kind.removed.isEmpty && step.target.containers.isEmpty
    }
}
