import BSON
import Following
import Mongo

/// The mirror's own writes that the change streams have not reported yet.
///
/// The mirror keeps them to find out whether one of them overwrote a client's change. The mirror writes a document only
/// if its bytes are the same as when the mirror read it. Between the read and the write, however, a client may have
/// changed the document and changed it back. Only the change stream shows that: it reports the client's changes before
/// the mirror's write.
struct UnreportedWrites {
    /// A write by the mirror to one document.
    struct Write {
        let side: PartnerSide
        let change: PairWriter.Change
        let read: ClusterTime
        /// An upper bound for the time that the change stream reports for the write.
        ///
        /// Once the stream has reported all changes up to this time, it has also reported the write.
        let end: ClusterTime
        /// The time of a client's last change between the read and the write; `nil` if no such change is known.
        var overwritten: ChangeTime?

        /// The time of a client's last change before the write; the time of the read if no later change is known.
        var overwrittenTime: ClusterTime { overwritten?.cluster ?? read }
    }

    private struct Place: Hashable {
        var side: PartnerSide
        var key: IDKey
    }

    private var writes: [Place: [Write]] = [:]
    /// The mirror's writes that overwrote a newer change by a client, as the change streams have shown.
    ///
    /// The client made that change after the mirror's read. The mirror still has to restore the client's document.
    var overwriting: [Write] = []

    var isEmpty: Bool { writes.isEmpty }

    /// Adds a write that was committed.
    mutating func add(_ write: Write) {
        // If a write leaves the document the same, the server reports no change, so the write is not listed.
        guard write.change.before != write.change.after else { return }
        writes[Place(side: write.side, key: write.change.key), default: []].append(write)
    }

    /// Records that the stream of a side reported a change that a client made to a document.
    ///
    /// The stream reports changes in their order, so the client made the change before the mirror's oldest unreported
    /// write to the document. If the change is later than the mirror's read before that write, the write overwrote the
    /// change, and the time of the change is recorded. In every other case, nothing is recorded.
    mutating func noteChange(of key: IDKey, on side: PartnerSide, at time: ChangeTime) {
        guard let read = writes[Place(side: side, key: key)]?.first?.read, time.cluster > read else { return }
        writes[Place(side: side, key: key)]?[0].overwritten = time
    }

    /// Records that the stream of a side reported a write by the mirror.
    /// - Returns: the time of the client's change that the write overwrote; `nil` if no client changed the document
    ///   between the mirror's read and this write.
    mutating func noteWrite(of key: IDKey, on side: PartnerSide) -> ChangeTime? {
        let place = Place(side: side, key: key)
        guard let write = writes[place]?.removeFirst() else { return nil }
        if writes[place]?.isEmpty == true { writes[place] = nil }
        if write.overwritten != nil { overwriting.append(write) }
        return write.overwritten
    }

    /// Removes the writes of a side that its stream has certainly reported.
    ///
    /// The stream has reported all changes up to the given time. The writes to one document are removed together, once
    /// that time has reached the ``Write/end`` of all of them.
    mutating func forget(upTo time: ClusterTime, on side: PartnerSide) {
        writes = writes.filter { place, writes in place.side != side || writes.contains { $0.end > time } }
    }
}
