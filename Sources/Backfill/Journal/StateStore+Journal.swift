import BSON
import Mongo

/// The journal of a job in the state database: what undo needs, written before each chunk.
extension StateStore {
    /// An attempt at a chunk, as the journal names it.
    struct JournalKey: Hashable {
        /// Rises with each attempt, of later runs too, so that none overwrites what an earlier one wrote.
        var sequence: Int64
        var pass: Int
        var phase: Int
        /// The number of the chunk: of two attempts with one number the later is the earlier one's repetition.
        var chunk: Int
    }

    private static let collection = "journal"

    /// Writes what a chunk is about to change; nothing of it may be written before this returns.
    /// - Parameter isFinal: whether it waits for a majority; else the chunk's checkpoint does for it.
    /// - Returns: the server's replies, with the primary's term.
    /// - Throws: ``BackfillError`` of kind `journalFull` when the deployment has no room for it; ``MongoError``.
    func write(_ journal: ChunkJournal, as key: JournalKey, touched: [String], isFinal: Bool) throws -> [BSONDocument] {
        var replies: [BSONDocument] = []
        for (index, groups) in journal.parts.enumerated() {
            var part: BSONDocument = [
                "_id": ["job": .string(job), "range": 0, "seq": .long(key.sequence), "part": .integer(index)],
                "pass": .integer(key.pass), "phase": .integer(key.phase), "chunk": ["number": .integer(key.chunk)],
                "count": .integer(journal.count), "touched": .array(of: touched.map { .string($0) }), "groups": groups,
            ]
            if index == 0, !journal.created.isEmpty {
                part = part.appending("created", .array(of: journal.created))
            }
            do throws(MongoError) {
                replies.append(try client.insert(Self.collection, part, isFinal: isFinal))
            } catch {
                guard error.code == .outOfDiskSpace else { throw error }
                throw BackfillError(
                    .journalFull,
                    "job \"\(job)\" stopped before a chunk, whose journal the deployment has no room for (\(error.message)); "
                        + "make room, drop the journals of jobs that nobody will undo with: shipshape cleanup, and run it "
                        + "again")
            }
        }
        return replies
    }

    /// All of the job's journal, as a filter with exact index bounds.
    private var journalFilter: BSONDocument {
        ["_id": ["$gte": ["job": .string(job)], "$lt": ["job": .string(job), "range": .maxKey]]]
    }

    /// Removes the job's journal; there is no undo after that.
    /// - Parameter between: called now and then.
    func dropJournal(_ between: () throws -> Void) throws {
        try client.deleteAll(Self.collection, journalFilter, between)
    }
}
