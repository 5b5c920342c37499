import Concurrency
import Mongo
import Synchronization

/// The place in a collection after which the next chunk of a dense pass reads, for all threads of the run.
///
/// One thread at a time reads the next documents, so each document is in one chunk only.
final class RecordPlaces: Sendable {
    private struct Place {
        /// The number of the record after which the read continues; `nil` at the start of the collection.
        var record: Int64?
        var isOver = false
    }

    private let place = Mutex(Place())
    private let isFree = Semaphore()

    init() { isFree.signal() }

    /// Whether all documents were read.
    var isOver: Bool { place.withLock(\.isOver) }

    /// Calls `read` with the number of the record after which it begins, and continues after its batch.
    /// - Returns: the batch; `nil` if all documents were read.
    /// - Throws: the errors of `read`; ``ChunkWork/PlaceLost`` if the server does not say where the batch ends.
    func next(_ read: (Int64?) throws -> RecordBatch) throws -> RecordBatch? {
        isFree.wait()
        defer { isFree.signal() }
        let now = place.withLock { $0 }
        guard !now.isOver else { return nil }
        let batch = try read(now.record)
        guard batch.isOver || batch.position != nil else { throw ChunkWork.PlaceLost() }
        let (position, isOver) = (batch.position, batch.isOver)
        place.withLock { $0 = Place(record: position, isOver: isOver) }
        return batch
    }
}
