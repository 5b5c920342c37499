import BSON
import JobState
import Jobs
import Mongo
import Steps

/// Finds copies that differ from their sources because a source changed after the job copied it; the job does not
/// update them.
///
/// A target that already differed from its source before the job does not count. The journal shows that the job did not
/// write such a target.
struct StaleCopies {
    /// The most documents of one step that are looked up in the journal.
    private static let maximum = 10_000

    let job: CompiledJob
    let collection: MongoCollection

    /// Returns a note for each step with copied values that differ from their sources; empty if there are none.
    /// - Parameter after: the counts of each step after the run.
    func notes(_ after: [StepCount], journal store: borrowing StateStore, keepsJournal: Bool) throws
        -> [String]
    {
        var differing = try job.steps.indices.map { index in
            isSuspect(after, index) ? try self.differing(at: index) : []
        }
        guard differing.contains(where: { !$0.isEmpty }) else { return [] }
        let conflicts = try zip(job.steps.indices, differing).compactMap { index, ids in
            isRefreshed(index) && !ids.isEmpty ? try conflict(after[index], at: index, Array(ids), keepsJournal) : nil
        }
        for index in differing.indices where isRefreshed(index) { differing[index] = [] }
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
        return conflicts + zip(after, stale).filter { !$1.isEmpty }.map(Self.note)
    }

    private func isRefreshed(_ index: Int) -> Bool { job.steps[index].step.kind.refresh != nil }

    /// Returns a note on the documents that a step with `whenPresent: refresh` skipped, because the target differs from
    /// its source.
    private func conflict(
        _ step: StepCount, at index: Int, _ ids: [BSONValue], _ keepsJournal: Bool
    ) throws(MongoError) -> String {
        let fields = (job.steps[index].step.sources.prefix(1) + job.steps[index].step.targets.prefix(1)).map(
            \.untilElements)
        var shown: [(String, BSONValue)] = [("_id", 1)]
        for (number, field) in fields.enumerated() { shown.append(("t\(number)", Expression.field(field).type.bson)) }
        let found = collection.aggregate(
            [
                ["$match": ["_id": ["$in": .array(of: Array(ids.prefix(Survey.samples)))]]],
                ["$project": .object(BSONDocument(shown))],
            ], options: Survey.options)
        let samples = try found.documents().map { document in
            let id = document["_id"].flatMap { try? $0.extendedJSON(.relaxed) } ?? "?"
            let types = fields.enumerated().map { "\($0.element) is \(document["t\($0.offset)"]?.text ?? "?")" }
            return "_id \(id) (\(types.joined(separator: ", ")))"
        }
        let many = ids.count == 1 ? "1 target differs" : "\(ids.count.grouped) targets differ"
        return "\(step.step): \(many) from \(ids.count == 1 ? "its source" : "their sources"), and "
            + (keepsJournal
                ? "from the job's own value, so another client changed \(ids.count == 1 ? "it" : "them")"
                : "without a journal it is unknown whether the job or another client wrote the value")
            + "; skipped: " + samples.joined(separator: ", ") + (ids.count > samples.count ? ", …" : "")
    }

    private func isSuspect(_ after: [StepCount], _ index: Int) -> Bool {
        guard job.steps[index].client == nil, after.indices.contains(index) else { return false }
        // The step's targets are compared with their sources if some targets hold another value than the step would
        // write, or if the step kept values of its targets. The second condition does not apply to the copy that is a
        // part of a rename, because the removal that follows this copy reports that source and target differ.
        let keeps = job.job.steps.contains { $0.step == job.steps[index].step }
        return after[index].skipped.contains { left in
            left.count > 0
                && (left.reason == CompiledStep.Reason.targetDiffers.rawValue
                    || keeps && left.reason == CompiledStep.Reason.targetKept.rawValue)
        }
    }

    /// Returns the `_id`s of at most ``maximum`` documents whose target holds another value than the step would write.
    func differing(at index: Int) throws(MongoError) -> Set<BSONValue> {
        guard let reason = job.steps[index].reasons.first(where: { [.targetDiffers, .targetKept].contains($0.reason) })
        else { return [] }
        let before = job.steps[..<index].filter { $0.client == nil }.map(\.stage)
        let found = collection.aggregate(
            before + [
                ["$match": .object(reason.when.filter)], ["$limit": .integer(Self.maximum)], ["$project": ["_id": 1]],
            ], options: Survey.options)
        return Set(try found.documents().compactMap { $0["_id"] })
    }

    private static func note(_ step: StepCount, _ ids: [BSONValue]) -> String {
        let samples = ids.prefix(Survey.samples).map { (try? $0.extendedJSON(.relaxed)) ?? "?" }
        let copies =
            ids.count == 1
            ? "1 copied value differs from its source"
            : "\(ids.count.grouped) copied values differ from their sources"
        return "\(step.step): \(copies), which changed after the copy: _id "
            + samples.joined(separator: ", ") + (ids.count > samples.count ? ", …" : "")
    }
}
