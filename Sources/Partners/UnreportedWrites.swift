import BSON
import Following
import Mongo

/// The mirror's own writes that the change streams have not reported yet.
///
/// A transaction writes a document only if its bytes are the same as when it was read. A client may have changed the
/// document in between and set it back. The change stream shows this, because it reports the client's changes before
/// the mirror's write.
struct UnreportedWrites {
    /// A write by the mirror.
    struct Write {
        let side: PartnerSide
        let change: PairWriter.Change
        /// The time of the read that found the document as it was before the write.
        let read: ClusterTime
        /// The stream has reported the write when it has reported all changes up to this time.
        let end: ClusterTime
        /// The time of a client's last change between the read and the write; `nil` if none is known.
        var overwritten: ChangeTime?
    }

    private struct Place: Hashable {
        var side: PartnerSide
        var key: IDKey
    }

    private var writes: [Place: [Write]] = [:]
    /// Reported writes that overwrote a client's later change, which is still to be restored.
    var overwriting: [Write] = []

    var isEmpty: Bool { writes.isEmpty }

    /// Adds a write that was committed.
    mutating func add(_ write: Write) {
        // The server reports no change of a document that stays the same.
        guard write.change.before != write.change.after else { return }
        writes[Place(side: write.side, key: write.change.key), default: []].append(write)
    }

    /// Records that the stream of a side reported a client's change of a pair's document.
    mutating func noteChange(of key: IDKey, on side: PartnerSide, at time: ChangeTime) {
        guard let read = writes[Place(side: side, key: key)]?.first?.read, time.cluster > read else { return }
        writes[Place(side: side, key: key)]?[0].overwritten = time
    }

    /// Records that the stream of a side reported a write by the mirror.
    /// - Returns: the time of the client's change that the write overwrote, if that was made after the read.
    mutating func noteWrite(of key: IDKey, on side: PartnerSide) -> ChangeTime? {
        let place = Place(side: side, key: key)
        guard let write = writes[place]?.removeFirst() else { return nil }
        if writes[place]?.isEmpty == true { writes[place] = nil }
        if write.overwritten != nil { overwriting.append(write) }
        return write.overwritten
    }

    /// Removes the writes to a side that its stream has reported, because it has reported all changes up to the time.
    mutating func forget(upTo time: ClusterTime, on side: PartnerSide) {
        writes = writes.filter { place, writes in place.side != side || writes.contains { $0.end > time } }
    }
}
