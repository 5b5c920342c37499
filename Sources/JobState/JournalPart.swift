package import BSON

/// One document of the journal: a chunk, or a part of one.
package struct JournalPart {
    /// An entry: a document, and how the chunk changed it.
    package struct Entry {
        package let id: BSONValue
        /// The index of its group.
        package let group: Int
        /// What the other fields of the document were; `nil` where nothing is known of them.
        package let evidence: ArraySlice<UInt8>?

        /// Joins the three.
        package init(id: BSONValue, group: Int, evidence: ArraySlice<UInt8>? = nil) {
            (self.id, self.group, self.evidence) = (id, group, evidence)
        }
    }

    package let position: JournalPosition
    package let pass: Int
    package let phase: Int
    /// What the attempts at one chunk have in common: its number; in journals of earlier versions where it began.
    package let chunk: BSONValue
    /// The names of the fields that the phase touches.
    package let touched: [String]
    package let groups: [JournalGroup]
    /// The fields that tell the documents from others of the same `_id`.
    package let evidence: DocumentEvidence
    /// All entries, in the journal's order.
    package let entries: [Entry]

    /// Reads a document of the journal; `nil` when a field is missing.
    /// - Throws: ``BSONError`` when the document is damaged.
    init?(_ document: BSONDocument) throws(BSONError) {
        guard let key = document["_id"]?.document, let sequence = key["seq"]?.integer, let part = key["part"]?.integer,
            let pass = document["pass"]?.integer, let phase = document["phase"]?.integer,
            let chunk = document["chunk"]?.document, let groups = document["groups"]?.document
        else { return nil }
        position = JournalPosition(sequence: Int64(sequence), part: part, entries: 0)
        self.pass = pass
        self.phase = phase
        self.chunk = chunk["number"] ?? chunk["after"] ?? .null
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
                Entry(id: id, group: index, evidence: evidence.part(place, of: group.evidence))
            }
        }
    }
}
