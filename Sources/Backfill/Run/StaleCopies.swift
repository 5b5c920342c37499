import BSON
import JobState
import Jobs
import Mongo

/// Copies whose source changed after they were made: the target is not overwritten, and differs from now on.
///
/// A document whose target held another value before the job is none: the job never wrote it, as its journal tells.
struct StaleCopies {
    /// The most documents that are looked up in the journal for a step.
    private static let most = 10_000

    let job: CompiledJob
    let collection: MongoCollection

    /// One note for each step that has any.
    /// - Parameter after: what remains of each step.
    func notes(_ after: [BackfillReport.StepCount], journal store: borrowing StateStore) throws -> [String] {
        var differing = try job.steps.indices.map { index in
            isSuspect(after, index) ? try self.differing(at: index) : []
        }
        guard differing.contains(where: { !$0.isEmpty }) else { return [] }
        var stale = job.steps.map { _ in [BSONValue]() }
        try store.journal.eachPart { part in
            for entry in part.entries {
                let written = part.groups[entry.group].names
                for (index, step) in job.steps.enumerated() where differing[index].contains(entry.id) {
                    guard step.step.targets.contains(where: { written.contains($0.components[0]) }) else { continue }
                    differing[index].remove(entry.id)
                    stale[index].append(entry.id)
                }
            }
        }
        return zip(after, stale).filter { !$1.isEmpty }.map(Self.note)
    }

    private func isSuspect(_ after: [BackfillReport.StepCount], _ index: Int) -> Bool {
        guard job.steps[index].client == nil, after.indices.contains(index) else { return false }
        return after[index].leftAlone.contains {
            $0.reason == CompiledStep.Reason.targetDiffers.rawValue && $0.count > 0
        }
    }

    /// The documents whose target holds another value than the step would write.
    private func differing(at index: Int) throws(MongoError) -> Set<BSONValue> {
        guard let reason = job.steps[index].reasons.first(where: { $0.reason == .targetDiffers }) else { return [] }
        let before = job.steps[..<index].filter { $0.client == nil }.map(\.stage)
        let found = collection.aggregate(
            before + [
                ["$match": .object(reason.when.filter)], ["$limit": .integer(Self.most)], ["$project": ["_id": 1]],
            ], options: Survey.options)
        return Set(try found.documents().compactMap { $0["_id"] })
    }

    private static func note(_ step: BackfillReport.StepCount, _ ids: [BSONValue]) -> String {
        let samples = ids.prefix(Survey.samples).map { (try? $0.extendedJSON(.relaxed)) ?? "?" }
        let copies = ids.count == 1 ? "1 copy" : "\(ids.count) copies"
        return "\(step.step): \(copies) went stale, since the source changed after it was copied: _id "
            + samples.joined(separator: ", ") + (ids.count > samples.count ? ", …" : "")
    }
}
