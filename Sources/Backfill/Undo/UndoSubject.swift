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
    /// The top-level fields that the job writes.
    var touched: [String] { Set(written.map(\.topLevel)).sorted() }
    /// Notes for the operator, to be shown before the undo starts.
    var notes: [String] = []
    /// How many documents an earlier version of the program changed without a journal, as far as that version recorded
    /// it.
    let unjournaled: Int
    /// The number of the newest write attempt that is in the journal and that a checkpoint confirms.
    ///
    /// A run numbers its attempts to write chunks.
    let journaled: Int64
    /// The state of the job that an earlier version of the program left; `nil` if there is none.
    let earlier: EarlierState?
    /// The state of the job's undo; `nil` if none was started.
    let undoing: Undoing?
    /// The name of a later job that wrote the same fields as this job; `nil` if there is none.
    let laterWriter: String?

    /// The collection's UUID; `nil` if the server cannot compare UUIDs.
    ///
    /// The undo's commands name the UUID, so that the server refuses them if another collection has the same name now.
    var collectionUUID: BSONValue? { target.checksUUID ? target.uuid : nil }
    /// Whether the job may have inserted documents in other collections.
    var mayHaveChildren: Bool { job?.steps.contains { $0.step.kind.linksToCreated != nil } ?? true }

    /// The top-level fields that a step computes from other fields, and that it may compute and write a second time.
    ///
    /// `nil` if the job's text cannot be read.
    ///
    /// Another client can change the source fields just before the job writes such a field. The job then writes another
    /// value than its journal shows. A later attempt may find this value, and take it for a user's. All other fields
    /// are different: a step writes its field in a document only once, so a later value of the field is a user's.
    var rewritten: Set<String>? {
        job.map { job in
            let steps = job.steps.map(\.step.kind).filter(\.mayRewrite)
            return Set(steps.flatMap { step in step.targets.filter { !step.removed.contains($0) } }.map(\.topLevel))
        }
    }

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
            unjournaled: Self.unjournaled(in: range), journaled: progress.journaled,
            earlier: try store.earlier(record), undoing: range["undo"]?.document.map(Undoing.init),
            laterWriter: try store.jobs.laterWriter(of: record))
        if try store.client.first("migrations", ["_id": .string(name)]) != nil {
            subject.notes.append(
                "backfill has recorded the job as applied, and does not run it again: to repeat its steps, give the "
                    + "job another name")
        }
        if let earlier = subject.earlier, earlier.modified > 0 {
            subject.notes.append(
                "an earlier version of the program ran the job, and did not record which journaled changes it wrote: "
                    + "all of them are uncertain, and are undone only with --include-uncertain")
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

    private static func unjournaled(in range: BSONDocument) -> Int {
        (range["unjournaled"]?.document?.values ?? []).compactMap(\.document).reduce(0) { sum, chunk in
            sum + max(0, (chunk["changed"]?.integer ?? 0) - (chunk["journaled"]?.integer ?? 0))
        }
    }
}
