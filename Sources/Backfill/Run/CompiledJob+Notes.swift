import BSON
import Jobs
import SchemaChange
import ServerSchema

extension CompiledJob {
    /// What is to be said before the start: first what the job is for.
    /// - Parameter keepsJournal: whether the job can be undone.
    func notes(keepsJournal: Bool) -> [String] {
        var notes = changes.map { change in
            let place = change.path.isRoot ? change.namespace.map { "\($0)" } ?? "the app" : change.path.description
            return "active → next: \(change.code) \(place) "
                + "(server: \(change.server.rawValue), client: \(change.client.rawValue))"
        }
        let losses = job.steps.compactMap { $0.step.kind.loss }
        notes += losses.map { keepsJournal ? "lost without undo: \($0)" : "irreversible: \($0)" }
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
