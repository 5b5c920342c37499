import BSON
import Checking
import JobReports
import JobState
import Jobs
import Mongo
import Steps

struct PreviewCount: Sendable {
    let job: CompiledJob
    var modified = 0
    /// The number of changes; a document counts once for each phase that changes it.
    var updates = 0
    var failingBefore = 0
    var failingAfter = 0
    /// A few of the changed documents, each with the number of its chunk.
    var samples: [(chunk: Int, sample: BackfillReport.Sample)] = []
    /// The number of chunks in which at least one document changes.
    var chunks = 0
    /// Documents that a run would skip.
    var failures: [Failure] = []
    /// The number of bytes of the top-level fields that the job writes or removes, in all changed documents, after the
    /// change.
    var touchedBytes = 0
    /// The bytes of the `_id`s of all changed documents.
    var idBytes = 0
    /// About how many bytes the journal entries of all changed documents would have.
    private(set) var journalBytes = 0
    /// The changed documents of the chunk that is being counted, and those of them with journal entries.
    private var (changed, journaled) = (0, 0)

    /// The number of documents in which the fields that the job changes are too large for undo; see
    /// ``BackfillRunner/noteOfLarge(_:)``.
    var large = 0
    /// The journal entries of some changed documents of the chunk that is being counted: of the first
    /// ``journaledFirst``, and then of one in ``journalShare``.
    private var journal: ChunkJournal

    /// Which documents have journal entries, from which the others are estimated; entries of all documents would take
    /// an eighth of a dry run.
    private static let (journaledFirst, journalShare) = (400, 8)

    private let touched: [String]

    init(job: CompiledJob) {
        self.job = job
        touched = job.whole.touched
        journal = ChunkJournal(touched: touched)
    }

    /// Counts the documents that a preview returns, and returns how many there are.
    /// - Parameter number: the number of the chunk to which the documents belong.
    mutating func read(_ preview: consuming Preview, number: Int) throws -> Int {
        var documents = 0
        while let outcome = try preview.next() {
            documents += 1
            if let before = outcome.before {
                try add(before.view, outcome.change, number)
            } else {
                try addUnchanged(outcome.after.view)
            }
        }
        return documents
    }

    /// Counts a document that does not need the job.
    mutating func addUnchanged(_ document: borrowing BSONView) throws {
        guard try fails(document) else { return }
        failingBefore += 1
        failingAfter += 1
    }

    /// Counts a document that the job changes.
    /// - Parameter number: the number of the chunk to which the document belongs.
    mutating func add(_ document: borrowing BSONView, _ change: Preview.Change, _ number: Int) throws {
        let new = change.after.view
        if try fails(document) { failingBefore += 1 }
        if try fails(new) { failingAfter += 1 }
        modified += 1
        updates += max(1, change.parts)
        guard !change.isOpen else {
            throw RunError(
                .notIdempotent, "job \"\(job.job.name)\" would never end: after a run, a document would still need it")
        }
        guard let id = try document.find("_id") else { return }
        idBytes += id.valueLength + 5
        changed += 1
        if changed <= Self.journaledFirst || changed.isMultiple(of: Self.journalShare) {
            journaled += 1
            try journal.add(try document.value(id), before: document, after: new)
        }
        for name in touched {
            if let element = try new.find(name) { touchedBytes += name.utf8.count + 2 + element.valueLength }
        }
        if samples.count < Survey.samples {
            samples.append((number, try sample(BSONDocument(copying: document), change.after)))
        }
    }

    private func fails(_ document: borrowing BSONView) throws -> Bool {
        guard let next = job.next else { return false }
        return try next.check(document) == .certain
    }

    mutating func endChunk() {
        guard journal.count > 0 else { return }
        chunks += 1
        journalBytes += Int(Double(journal.bytes) * Double(changed) / Double(journaled))
        (journal, changed, journaled) = (ChunkJournal(touched: touched), 0, 0)
    }

    /// Adds the counts of other chunks, such as those that another thread read.
    mutating func add(_ other: PreviewCount) {
        modified += other.modified
        updates += other.updates
        failingBefore += other.failingBefore
        failingAfter += other.failingAfter
        touchedBytes += other.touchedBytes
        idBytes += other.idBytes
        journalBytes += other.journalBytes
        chunks += other.chunks
        large += other.large
        failures += other.failures
        samples = Array((samples + other.samples).sorted { $0.chunk < $1.chunk }.prefix(Survey.samples))
    }

    private func sample(_ before: BSONDocument, _ after: BSONDocument) throws -> BackfillReport.Sample {
        var seen: Set<FieldPath> = []
        let paths = job.steps.flatMap { $0.step.sources + $0.step.targets }.map(\.untilElements).filter {
            seen.insert($0).inserted
        }
        return BackfillReport.Sample(
            id: after["_id"] ?? .null, before: try paths.map { ($0.description, try before.value(at: $0)) },
            after: try paths.map { ($0.description, try after.value(at: $0)) })
    }
}
