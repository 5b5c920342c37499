import BSON
import Checking
package import JobState
import Jobs
import Mongo
import SchemaChange
import ServerSchema

extension CompiledJob {
    /// Returns the notes to show before a run; the first ones list the changes from the active schema to the next.
    /// - Parameter keepsJournal: whether the job can be undone.
    package func notes(keepsJournal: Bool) -> [String] {
        let (server, client) = (next?.dialect ?? .appServices).sides
        var notes: [String] = []
        var rest = changes
        while let first = rest.first {
            func isAlike(_ change: SchemaChange) -> Bool {
                (change.code, change.server, change.client) == (first.code, first.server, first.client)
            }
            let alike = rest.filter(isAlike)
            rest.removeAll(where: isAlike)
            let places = alike.map { change in
                change.path.isRoot ? change.namespace.map { "\($0)" } ?? "the app" : change.path.description
            }
            notes.append(
                "active → next: \(first.code) \(places.joined(separator: ", ")) "
                    + "(\(server): \(first.server.word), \(client)s: \(first.client.word))")
        }
        let losses = job.steps.compactMap { $0.step.kind.loss }
        if !losses.isEmpty {
            notes.append(
                (keepsJournal ? "only `shipshape undo` can restore: " : "irreversible: ")
                    + losses.joined(separator: "; "))
        }
        notes += remarks
        for case let extract as ExtractStep in job.steps.map(\.step.kind) {
            guard keepsJournal else { continue }
            notes.append(
                "undo restores the objects of \"\(extract.field)\" in their parents, and removes each document that "
                    + "the job created from them in \(extract.to), unless it was changed")
        }
        if !keepsJournal { notes.append("no journal is kept: the job cannot be undone") }
        switch active?.dialect {
        case .appServices: break
        // The note below says that documents which clients of the active schema cannot read are not counted. It is not
        // true for a repair job, whose active schema is also its next schema, because a run counts the documents that
        // clients of the next schema cannot read.
        case .prisma where job.repairsDocuments: break
        case .jsonSchema:
            notes.append(
                "not checked: whether the active validator accepts the changed documents; one that it refuses is "
                    + "skipped and listed")
        case .prisma:
            notes.append("not checked: whether clients of the active schema can still read the changed documents")
        case nil:
            notes.append("the job names no active schema: documents that stop fitting the live one are not counted")
        }
        return notes
    }

    /// Refuses a job that this server cannot run or undo.
    ///
    /// A job is refused if it has an operator that the server does not know, creates documents that undo could not
    /// remove from this server, or has more steps than fit into one command.
    /// - Throws: ``RunError``, which names the step.
    package func checkServer(wireVersion: Int) throws(RunError) {
        for step in job.steps {
            for name in step.step.operators.sorted() {
                guard let since = ExpressionOperator(name)?.since, wireVersion < since.wireVersion else { continue }
                throw RunError(
                    .schemaMismatch,
                    "\(name) needs MongoDB \(since.name) or later, and this server is older (wire version "
                        + "\(wireVersion))"
                ).located(at: step.location)
            }
            // Before MongoDB 5.0, the filter of a delete cannot compare the end of undo's lease with the server's
            // clock. Undo could therefore delete documents after its lease has ended.
            if step.step.kind.linksToCreated != nil, wireVersion < ServerHello.wireVersionOf50 {
                throw RunError(
                    .schemaMismatch,
                    "extract needs MongoDB 5.0 or later, and this server is older (wire version \(wireVersion)): undo "
                        + "could not remove the documents that it creates"
                ).located(at: step.location)
            }
        }
        try checkSize()
    }

    /// Returns a note for the operator if the server is older than MongoDB 5.0; otherwise an empty list.
    ///
    /// Such an old server cannot detect arrays whose keys a write would renumber.
    package static func notes(of wireVersion: Int) -> [String] {
        guard wireVersion < ServerHello.wireVersionOf50 else { return [] }
        return [
            "this server is older than MongoDB 5.0 and hides the keys of arrays: a step that reads an array with other "
                + "keys than 0, 1, 2 renumbers it, and undo does not restore the old keys"
        ]
    }

    /// The maximum size of a job's steps in the survey, in bytes; the survey is the longest command of a job.
    ///
    /// The server accepts no command of more than 16 MiB. The maximum is lower, because the router of a sharded cluster
    /// makes a command longer before sending it to the shards.
    private static let largestSurvey = 12 << 20

    private func checkSize() throws(RunError) {
        let known = steps.map { $0.knowing(AlteredDocument(knownAt: "altered")) }
        var bytes = steps.alteredAlthoughNeeded.bson.byteCount + known.need.bson.byteCount
        for (index, step) in known.enumerated() {
            bytes += step.surveyByteCount
            guard bytes > Self.largestSurvey else { continue }
            throw RunError(
                .schemaMismatch,
                "the job has too many steps that build on each other: with \"\(step.step)\", step \(index + 1), they "
                    + "exceed the size of one command; move this step and the later ones to a job of their own"
            ).located(at: step.location)
        }
    }

    /// Returns one line for the operator for each obstacle that a client-side step found while it prepared its work.
    ///
    /// If the survey found no document that needs a step, the obstacles of that step are left out.
    package func obstacles(found survey: Survey.Result) -> [String] {
        zip(steps, survey.before).flatMap { step, count in
            count.needing == 0 ? [] : step.preparation.obstacles.map { $0.message(of: step) }
        }
    }
}

extension ClientObstacle {
    fileprivate func message(of step: CompiledStep) -> String {
        let ids = samples.compactMap { try? BSONDocument([("_id", $0)]).extendedJSON(.relaxed) }
        let place = step.location.map { "\($0.file):\($0.line):\($0.column): " } ?? ""
        return
            "\(place)\(step.step): \(text) \(count.grouped) \(count == 1 ? "document" : "documents") of "
            + "\(namespace), such as \(ids.joined(separator: ", ")); \(remedy)"
    }
}
