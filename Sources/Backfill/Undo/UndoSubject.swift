import BSON
import Checking
import JobState
import Jobs
import Mongo
import ServerSchema
import Steps

/// A job to be undone, as the state database stores it; the job file may no longer exist.
struct UndoSubject {
    let name: String
    let namespace: Namespace
    /// The job's collection as it is when the undo begins.
    let target: Target
    /// The job as it was run; `nil` if this version of the program cannot read the stored text.
    let job: CompiledJob?
    /// The fields that the job writes; a path into the elements of a list ends at the list.
    let written: [FieldPath]
    var touched: [String] { Set(written.map(\.topLevel)).sorted() }
    /// Notes for the operator, to be shown before the undo starts.
    var notes: [String] = []
    /// The number of chunks in the journal, according to the checkpoints.
    let journaled: Int
    /// The state of the job's undo; `nil` if none was started.
    let undoing: Undoing?
    /// The name of a later job that wrote the same fields as this job; `nil` if there is none.
    let laterWriter: String?

    /// Whether the job may have inserted documents in other collections.
    var mayHaveChildren: Bool { job?.steps.contains { $0.step.kind.linksToCreated != nil } ?? true }

    /// Reads the job from the state database; `nil` if there is no job of that name.
    /// - Throws: ``RunError`` when the job cannot be undone; ``MongoError``.
    static func find(
        _ store: borrowing StateStore, in collection: RecordedCollection, assuming: CheckOptions
    ) throws -> UndoSubject? {
        guard let record = try store.jobs.record() else { return nil }
        let name = store.job
        try store.checkVersion(of: record)
        let namespace = try collection.namespace(of: record, name)
        guard record["journal"] == .bool(true) else {
            throw RunError(
                .undoRefused,
                "job \"\(name)\" cannot be undone: it ran without a journal (\"journal: false\" or --no-journal)")
        }
        let range = try store.ranges.document() ?? [:]
        let progress = Progress(range)
        guard try progress.modified == 0 || !store.journal.isEmpty() else {
            throw RunError(.undoRefused, "job \"\(name)\" cannot be undone: its journal was dropped")
        }
        let target = try Target.find(namespace, on: store.client.client)
        guard record["uuid"] == (target.uuid ?? .null) else {
            throw RunError.anotherUUID(of: name, on: namespace, "since the job started", refusing: "be undone")
        }
        let compiled = try? StoredJob.compile(record, assuming: assuming)
        var subject = UndoSubject(
            name: name, namespace: namespace, target: target, job: compiled,
            written: record.touched.map(\.untilElements),
            journaled: progress.journaled, undoing: range["undo"]?.document.map(Undoing.init),
            laterWriter: try store.jobs.laterWriter(of: record))
        if try store.client.first("migrations", ["_id": .string(name)]) != nil {
            subject.notes.append(
                "backfill has recorded the job as applied, and does not run it again: to repeat its steps, give the "
                    + "job another name")
        }
        if compiled == nil {
            subject.notes.append(
                "this version cannot read the stored job, so it is unknown whether the undo makes documents "
                    + "unsyncable; to find out, undo the job with the version that ran it"
            )
        }
        return subject
    }

    /// Refuses to undo the job before a later job that wrote the same fields is undone.
    /// - Throws: ``RunError`` of kind `undoRefused`.
    func checkOrder() throws(RunError) {
        guard let laterWriter else { return }
        throw RunError(
            .undoRefused,
            "job \"\(name)\" cannot be undone: the later job \"\(laterWriter)\" wrote the same fields of \(namespace); "
                + "undo that one first: shipshape undo \(laterWriter)")
    }
}
