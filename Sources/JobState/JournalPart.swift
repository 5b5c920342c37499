package import BSON

/// One document of the collection `journal`, which holds the changes of a chunk.
///
/// If a chunk does not fit into one document, each of its documents holds a part of it.
package struct JournalPart {
    /// The entry of one changed document in the journal.
    package struct Entry {
        package let id: BSONValue
        /// The index in ``JournalPart/groups`` of the group to which the document belongs.
        package let group: Int
        /// The digests of fields that the job does not write; `nil` if the journal has none.
        ///
        /// Undo compares them to find out whether another client has replaced the document; see ``DocumentEvidence``.
        package let evidence: ArraySlice<UInt8>?

        package init(id: BSONValue, group: Int, evidence: ArraySlice<UInt8>? = nil, place: Int = 0) {
            (self.id, self.group, self.evidence, self.place) = (id, group, evidence, place)
        }

        /// The index of the document in ``JournalGroup/ids``.
        let place: Int
    }

    package let position: JournalPosition
    /// The number of the pass over the collection in which the attempt was made.
    package let pass: Int
    /// The number of chunks that were done before the attempt's documents were read.
    ///
    /// If one read supplies the documents of several chunks, these chunks have the same number.
    package let chunk: BSONValue
    /// The names of the top-level fields that the phase's steps may write or remove.
    package let touched: [String]
    /// The groups of documents; the job changed all documents of a group in the same way.
    package let groups: [JournalGroup]
    /// The fields that distinguish a document from a later one with the same `_id`.
    package let evidence: DocumentEvidence
    /// The entries of all documents, sorted by group, and within a group in the order of ``JournalGroup/ids``.
    package let entries: [Entry]

    /// Reads a document of the journal; `nil` if a required field is missing or has a wrong type.
    /// - Throws: ``BSONError`` when the document is damaged.
    init?(_ document: BSONDocument) throws(BSONError) {
        guard let key = document["_id"]?.document, let sequence = key["seq"]?.integer, let part = key["part"]?.integer,
            let pass = document["pass"]?.integer, document["phase"]?.integer != nil,
            let chunk = document["chunk"]?.document, let groups = document["groups"]?.document
        else { return nil }
        position = JournalPosition(sequence: Int64(sequence), part: part)
        self.pass = pass
        self.chunk = chunk["number"] ?? .null
        touched = document["touched"]?.document?.values.compactMap(\.text) ?? []
        var read: [JournalGroup] = []
        for value in groups.values {
            guard let group = try value.document.flatMap({ (document) throws(BSONError) in try JournalGroup(document) })
            else { return nil }
            read.append(group)
        }
        self.groups = read
        let evidence = DocumentEvidence((document["evidence"]?.document?.values ?? []).compactMap(\.text))
        self.evidence = evidence
        entries = self.groups.enumerated().flatMap { index, group in
            group.ids.enumerated().map { place, id in
                Entry(id: id, group: index, evidence: evidence.part(place, of: group.evidence), place: place)
            }
        }
    }

    /// Returns what is left of the part, as the journal stores it, after some of its changes were undone.
    /// - Parameters:
    ///   - done: the indexes of the ``entries`` that were undone.
    ///   - rests: what is left of entries of which some paths were undone, by their indexes.
    package func rest(without done: Set<Int>, leaving rests: [Int: JournalGroup]) -> BSONValue {
        let width = evidence.names.count * DocumentEvidence.width
        var kept: [Int: [Int]] = [:]
        for (index, entry) in entries.enumerated() where !done.contains(index) && rests[index] == nil {
            kept[entry.group, default: []].append(entry.place)
        }
        let whole = kept.sorted { $0.key < $1.key }.map {
            groups[$0.key].stored(keeping: $0.value, evidenceWidth: width)
        }
        let parts = rests.sorted { $0.key < $1.key }.map { $0.value.stored(keeping: [0], evidenceWidth: width) }
        return .array(of: whole + parts)
    }
}

/// A position in the journal; undo reads the journal from the newest document to the oldest.
package struct JournalPosition: Hashable, Sendable {
    /// The number of the chunk.
    package var sequence: Int64
    /// The index of the journal document among the journal documents of the chunk.
    package var part: Int
}
