package import BSON

/// Documents that a chunk changes alike, as the journal holds them.
package struct JournalGroup {
    package static let before = "b"
    package static let added = "n"
    package static let places = "p"
    package static let after = "a"
    package static let ids = "i"
    package static let evidence = "e"

    /// The changed fields that the documents had, as they were, in the order of their names' bytes.
    package let before: BSONDocument
    /// The changed fields that they lacked, in the same order.
    package let added: [String]
    /// The places of ``before``'s fields among all fields of the document; `nil` where no field goes or moves.
    package let places: [Int]?
    /// The changed fields as the chunk leaves them.
    package let after: JournalDigest
    /// The documents.
    package let ids: [BSONValue]
    /// What other fields of each document were, one after the other; see ``DocumentEvidence``.
    let evidence: [UInt8]
    /// The names of all changed fields, in the order of their bytes.
    package let names: [String]

    private init(
        before: BSONDocument, added: [String], places: [Int]?, after: JournalDigest, ids: [BSONValue], names: [String]
    ) {
        (self.before, self.added, self.places) = (before, added, places)
        (self.after, self.ids, self.names) = (after, ids, names)
        evidence = []
    }

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

    /// A document with the changed fields as they were.
    ///
    /// Names are compared, and values are copied, by their bytes: what is not UTF-8 stays as it is. Where a field went, all
    /// changed fields are put back at the places that they had, and the others keep their order.
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

    /// The group without its documents: how fields were changed.
    package var change: JournalGroup {
        JournalGroup(before: before, added: added, places: places, after: after, ids: [], names: names)
    }

    /// The changed fields of a document as they are now, in the form that ``before`` and the digest have.
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
    /// The index of the name that these bytes spell.
    fileprivate func firstIndex(where bytes: RawSpan) -> Int? {
        for (index, name) in enumerated() where bytes.isEqual(to: name) { return index }
        return nil
    }
}
