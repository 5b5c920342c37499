import BSON
import Concurrency
import JobState
import Jobs
import Mongo
import Running
import Scanning
import Steps
import Synchronization

/// The journal of a run: what it keeps of each document, and how its chunks are numbered.
struct RunJournal: Sendable {
    /// The fields that distinguish a document from a later document with the same `_id`; `nil` until they are chosen.
    private(set) var evidence: DocumentEvidence?
    /// The number of chunks that were done when the run last found documents; the journal stores it with each chunk of
    /// these documents.
    var group = 0
    /// The numbers of the run's chunks in the journal, for all threads.
    let numbers = JournalNumbers()
    /// The number of the first chunk of this run in the journal, and how many chunks the journal had with it; `nil`
    /// before it.
    private(set) var first: (sequence: Int64, count: Int)?
    private var lastCheck = ContinuousClock.now

    /// Notes a chunk that was committed.
    /// - Parameters:
    ///   - sequence: the chunk's number in the journal; `nil` if the run keeps none.
    ///   - count: how many chunks the journal has with it.
    /// - Returns: whether it is time to look if another client removed the job's state: once a second.
    mutating func committed(_ sequence: Int64?, count: Int) -> Bool {
        first = first ?? sequence.map { ($0, count) }
        guard lastCheck.duration(to: .now) >= .seconds(1) else { return false }
        lastCheck = .now
        return true
    }

    /// Chooses the fields that distinguish a document from a later document with the same `_id`.
    ///
    /// The sample is the first and the last 50 documents in the order of their `_id`s. Fields that the job writes are
    /// excluded, and so are the sources of steps with `whenPresent: refresh`, because clients change them. The sample
    /// is not random, because a random one would cost the server as much as thousands of writes.
    mutating func chooseEvidence(for job: CompiledJob, _ kernel: inout Kernel) throws {
        guard evidence == nil else { return }
        let followed = (job.refreshing?.steps ?? []).flatMap(\.step.sources).map(\.topLevel)
        let touched = Set(job.whole.touched + followed + SyncLock.fields + ["_id"])
        let isSmall = Expression(["$lt": [["$bsonSize": "$$ROOT"], .integer(DocumentEvidence.largest)]])
        let sample = try kernel.reading(job.job.namespace) { collection in
            try [1, -1].flatMap { direction in
                try collection.aggregate(
                    [["$sort": ["_id": .integer(direction)]], ["$limit": 50], ["$match": .object(isSmall.filter)]],
                    options: ["comment": "shipshape journal"]
                ).documents()
            }
        }
        evidence = try DocumentEvidence.chosen(from: sample, without: touched)
    }

    /// Returns the journal of a chunk, and the documents that it has, which are those that the phase changes.
    func entries(of documents: [DueDocument], _ phase: Phase) throws -> (ChunkJournal, [DueDocument]) {
        var entries = ChunkJournal(touched: phase.touched, evidence: evidence?.names ?? [])
        let keepsPositions = phase.isServerSide
        let written = try documents.filter { document in
            guard let change = document.change,
                try entries.add(
                    document.id, before: change.before.view, after: change.after.view,
                    positions: keepsPositions ? change.positions : nil, evidence: change.evidence)
            else { return false }
            for creation in change.created { entries.add(creation) }
            return true
        }
        return (entries, written)
    }
}

/// Numbers the chunks of a run in the journal.
///
/// A transaction takes its number after its first read. The server refuses the transaction if it writes what another
/// one has written since that read, so a chunk that builds on another one always has the greater number.
final class JournalNumbers: Sendable {
    private let last = Mutex<Int64>(0)

    /// Continues after a number of the job's earlier runs.
    func begin(after sequence: Int64) { last.withLock { $0 = max($0, sequence) } }

    func next() -> Int64 {
        last.withLock { last in
            last += 1
            return last
        }
    }
}
