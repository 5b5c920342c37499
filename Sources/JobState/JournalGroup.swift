package import BSON
import Jobs

/// A group of documents with the same change.
///
/// The journal stores the change once, and the `_id` of each document.
package struct JournalGroup {
    /// The key of ``before`` in the journal.
    package static let before = "b"
    /// The key of ``added`` in the journal.
    package static let added = "n"
    /// The key of ``places`` in the journal.
    package static let places = "p"
    /// The key of ``after`` in the journal.
    package static let after = "a"
    /// The key of ``ids`` in the journal.
    package static let ids = "i"
    /// The key of ``evidence`` in the journal.
    package static let evidence = "e"

    /// The changed fields that the documents had before the write, with their values, sorted by the bytes of their
    /// names.
    package let before: BSONDocument
    /// The names of the changed fields that the documents lacked before the write, sorted by their bytes.
    package let added: [String]
    /// The positions that the fields of ``before`` had among all fields of the document; `nil` if the journal does not
    /// store them.
    package let places: [Int]?
    /// The digest of the changed fields after the write.
    package let after: JournalDigest
    /// The `_id`s of the group's documents.
    package let ids: [BSONValue]
    /// The digests by which undo recognizes that a document was replaced, in the order of ``ids`` and without
    /// separators; see ``DocumentEvidence``.
    ///
    /// The array is empty if the journal has no such digests.
    let evidence: [UInt8]
    /// The names of all changed fields, sorted by their bytes.
    package let names: [String]

    private init(
        before: BSONDocument, added: [String], places: [Int]?, after: JournalDigest, ids: [BSONValue], names: [String]
    ) {
        (self.before, self.added, self.places) = (before, added, places)
        (self.after, self.ids, self.names) = (after, ids, names)
        evidence = []
    }

    /// Reads a group of the journal; `nil` if a required field is missing or has a wrong type.
    /// - Throws: ``BSONError`` when the journal is damaged.
    init?(_ document: BSONDocument) throws(BSONError) {
        guard let before = document[Self.before]?.document, let after = JournalDigest(document[Self.after]),
            let ids = document[Self.ids]?.document
        else { return nil }
        self.before = before
        self.after = after
        self.ids = ids.values
        if case .binary(_, let bytes)? = document[Self.evidence] { evidence = bytes } else { evidence = [] }
        added = document[Self.added]?.document?.values.compactMap(\.text) ?? []
        places = document[Self.places]?.document?.values.compactMap(\.integer)
        names = (try before.elements().map(\.name) + added).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// Returns the document `current` with the changed fields as they were before the write.
    ///
    /// Names are compared, and values copied, by their bytes, so text that is not UTF-8 stays unchanged. If ``places``
    /// is not `nil`, each restored field gets the position that it had among all fields, and the other fields keep
    /// their order.
    package func restored(_ current: BSONDocument) throws(BSONError) -> BSONDocument {
        let (now, was) = (current.view, before.view)
        var builder = BSONBuilder()
        var others: [BSONElement] = []
        var put: Set<Int> = []
        var position = now.firstPosition
        while let element = try now.next(&position) {
            guard let name = names.firstIndex(where: now.nameBytes(element)) else {
                if places == nil { builder.append(element, of: now) } else { others.append(element) }
                continue
            }
            guard places == nil, put.insert(name).inserted, let old = try was.find(names[name]) else { continue }
            builder.append(old, of: was)
        }
        guard let places else {
            position = was.firstPosition
            while let old = try was.next(&position) {
                if let name = names.firstIndex(where: was.nameBytes(old)), !put.contains(name) {
                    builder.append(old, of: was)
                }
            }
            return builder.finish()
        }
        var olds: [BSONElement] = []
        position = was.firstPosition
        while let old = try was.next(&position) { olds.append(old) }
        var order = others.map { (element: $0, isOld: false) }
        for (old, place) in zip(olds, places).sorted(by: { $0.1 < $1.1 }) {
            order.insert((old, true), at: min(max(place, 0), order.count))
        }
        for (element, isOld) in order {
            if isOld { builder.append(element, of: was) } else { builder.append(element, of: now) }
        }
        return builder.finish()
    }

    /// This group's change, without the `_id`s and the evidence of its documents.
    package var change: JournalGroup {
        JournalGroup(before: before, added: added, places: places, after: after, ids: [], names: names)
    }

    /// Returns the fields of a document that the group's change affects, with their current values.
    ///
    /// The fields are sorted by the bytes of their names, so the result can be compared with ``before`` and with the
    /// digest ``after``.
    package func fields(of document: BSONDocument) throws(BSONError) -> BSONDocument {
        var builder = BSONBuilder()
        let view = document.view
        for name in names {
            if let element = try view.find(name) { builder.append(element, of: view) }
        }
        return builder.finish()
    }
}

extension [String] {
    /// Returns the index of the name that has these bytes; `nil` if none has.
    fileprivate func firstIndex(where bytes: RawSpan) -> Int? {
        for (index, name) in enumerated() where bytes.isEqual(to: name) { return index }
        return nil
    }
}

/// One document of the collection `journal`, which holds the changes of an attempt to write a chunk.
///
/// If an attempt does not fit into one document, each of its documents holds a part of it.
package struct JournalPart {
    /// The entry of one changed document in the journal.
    package struct Entry {
        /// The document's `_id`.
        package let id: BSONValue
        /// The index in ``JournalPart/groups`` of the group to which the document belongs.
        package let group: Int
        /// The digests of fields that the job does not write; `nil` if the journal has none.
        ///
        /// Undo compares them to find out whether another client has replaced the document; see ``DocumentEvidence``.
        package let evidence: ArraySlice<UInt8>?

        /// Creates an entry from its parts.
        package init(id: BSONValue, group: Int, evidence: ArraySlice<UInt8>? = nil) {
            (self.id, self.group, self.evidence) = (id, group, evidence)
        }
    }

    /// The position of the journal document.
    package let position: JournalPosition
    /// The number of the pass over the collection in which the attempt was made.
    package let pass: Int
    /// The index of the job's phase to which the attempt belongs.
    package let phase: Int
    /// The number of chunks that were done before the attempt's documents were read.
    ///
    /// If one read supplies the documents of several chunks, these chunks have the same number.
    ///
    /// In a journal of an earlier version of the program, the value is the position in the collection at which the
    /// chunk began.
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

/// A digest of fields, 16 bytes long: the beginning of the SHA-256 of a BSON document that holds the fields.
///
/// The digest of a group's changed fields covers a BSON document in which the fields are sorted by the bytes of their
/// names. Fields that the documents of the group lack are not included.
package struct JournalDigest: Hashable {
    private let high: UInt64
    private let low: UInt64

    /// Creates the digest of a BSON document that holds the fields.
    package init(of fields: BSONDocument) { self.init(SHA256.digest(of: fields.bytes)) }

    private init(_ digest: [UInt8]) {
        func word(_ start: Int) -> UInt64 { digest[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        (high, low) = (word(0), word(8))
    }

    /// The digest as the binary value that is stored.
    var bson: BSONValue {
        let bytes = [high, low].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64($0))) }
        }
        return .binary(subtype: 0, bytes: bytes)
    }

    /// Reads a stored digest; `nil` for any other value.
    package init?(_ value: BSONValue?) {
        guard case .binary(_, let bytes)? = value, bytes.count == 16 else { return nil }
        self.init(bytes)
    }
}

/// A position in the journal; undo reads the journal from the newest document to the oldest.
package struct JournalPosition: Hashable {
    /// The number of the attempt to write a chunk.
    package var sequence: Int64
    /// The index of the journal document among the journal documents of the attempt.
    package var part: Int
    /// How many entries of the journal document undo has processed.
    package var entries: Int

    var document: BSONDocument {
        ["seq": .long(sequence), "part": .integer(part), "entries": .integer(entries)]
    }

    /// Creates a position from its parts.
    package init(sequence: Int64, part: Int, entries: Int) {
        self.sequence = sequence
        self.part = part
        self.entries = entries
    }

    /// Reads a stored position; `nil` if a field is missing or has a wrong type.
    package init?(_ document: BSONDocument) {
        guard let sequence = document["seq"]?.integer, let part = document["part"]?.integer,
            let entries = document["entries"]?.integer
        else { return nil }
        self.init(sequence: Int64(sequence), part: part, entries: entries)
    }
}
