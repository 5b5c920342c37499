import BSON
import JobState
import Jobs
import Mongo
import SchemaChange
import ServerSchema

extension CompiledJob {
    /// What is to be said before the start: first what the job is for.
    /// - Parameter keepsJournal: whether the job can be undone.
    package func notes(keepsJournal: Bool) -> [String] {
        var notes = changes.map { change in
            let place = change.path.isRoot ? change.namespace.map { "\($0)" } ?? "the app" : change.path.description
            return "active → next: \(change.code) \(place) "
                + "(server: \(change.server.word), clients: \(change.client.word))"
        }
        let losses = job.steps.compactMap { $0.step.kind.loss }
        notes += losses.map { keepsJournal ? "not reversible without undo: \($0)" : "irreversible: \($0)" }
        for case let extract as ExtractStep in job.steps.map(\.step.kind) {
            guard keepsJournal else { continue }
            notes.append(
                "undo gives the objects of \"\(extract.field)\" back to their parents, and removes the documents that they "
                    + "became in \(extract.to), each while it is as it was made")
        }
        if !keepsJournal { notes.append("no journal is kept: the job cannot be undone") }
        if active == nil {
            notes.append("the job names no active schema: whether it harms documents that sync is not judged")
        } else if !countsHarm {
            notes.append(
                "the active schema is a validator, which has no limit: what comes not to fit it is not counted, and the "
                    + "server refuses it where the validator is strict")
        }
        return notes
    }
}

extension CompiledJob {
    /// Refuses a job with an operator that the server does not know, with documents that undo could not remove from it, or
    /// with more steps than it takes at once.
    /// - Throws: ``BackfillError``, which names the step.
    func checkServer(wireVersion: Int) throws(BackfillError) {
        for step in job.steps {
            for name in step.step.operators.sorted() {
                guard let since = ExpressionOperator(name)?.since, wireVersion < since.wireVersion else { continue }
                throw BackfillError(
                    .schemaMismatch,
                    "\(name) is known to MongoDB \(since.name) and later, and this server is older (wire version "
                        + "\(wireVersion))"
                ).located(at: step.location)
            }
            // A removal without the server's clock could come after the fence.
            if step.step.kind is ExtractStep, wireVersion < ServerHello.wireVersionOf50 {
                throw BackfillError(
                    .schemaMismatch,
                    "extract needs MongoDB 5.0 or later, and this server is older (wire version \(wireVersion)): undo could not "
                        + "remove the documents that it makes"
                ).located(at: step.location)
            }
        }
        try checkSize()
    }

    /// What a job's steps may come to as one aggregation: the server evaluates all of it for each document, and takes no
    /// command of 16 MiB.
    private static let largestCommand = 6 << 20

    /// Refuses steps that build on each other until the server would not take them, or would be at each document for long.
    private func checkSize() throws(BackfillError) {
        var bytes = 0
        for (index, step) in steps.enumerated() {
            bytes +=
                step.needs.bson.byteCountInCommand
                + (step.client == nil ? BSONValue.object(step.stage).byteCountInCommand : 0)
            guard bytes > Self.largestCommand else { continue }
            throw BackfillError(
                .schemaMismatch,
                "the job has too many steps that build on each other: with \"\(step.step)\", the \(index + 1)th, they come to "
                    + "more than a server evaluates for each document; put this one and those behind it into a job of their own"
            ).located(at: step.location)
        }
    }
}

extension BSONValue {
    fileprivate var byteCountInCommand: Int { BSONDocument(CollectionOfOne(("", self))).bytes.count }
}

extension CompiledJob {
    /// What stands against the job in the documents, as an operator reads it; of a step that no document needs, nothing
    /// does.
    func obstacles(found survey: Survey.Result) -> [String] {
        zip(steps, survey.before).flatMap { step, count in
            count.needing == 0 ? [] : (step.transform?.obstacles ?? []).map { $0.message(of: step) }
        }
    }
}

extension ClientObstacle {
    fileprivate func message(of step: CompiledStep) -> String {
        let ids = samples.compactMap { try? BSONDocument([("_id", $0)]).extendedJSON(.relaxed) }
        let place = step.location.map { "\($0.file):\($0.line):\($0.column): " } ?? ""
        return
            "\(place)\(step.step): \(text) \(count) \(count == 1 ? "document" : "documents") of \(namespace), such as "
            + "\(ids.joined(separator: ", ")); \(remedy)"
    }
}
