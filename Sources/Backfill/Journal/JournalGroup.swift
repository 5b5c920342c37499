import BSON

/// Documents that a chunk changes alike, as the journal holds them.
struct JournalGroup {
    static let before = "b"
    static let added = "n"
    static let places = "p"
    static let after = "a"
    static let ids = "i"

    /// The changed fields that the documents had, as they were, in the order of their names' bytes.
    let before: BSONDocument
    /// The changed fields that they lacked, in the same order.
    let added: [String]
    /// The places of ``before``'s fields among all fields of the document; `nil` where no field goes or moves.
    let places: [Int]?
    /// The changed fields as the chunk leaves them.
    let after: JournalDigest
    /// The documents.
    let ids: [BSONValue]
    /// The names of all changed fields, in the order of their bytes.
    let names: [String]

    /// - Throws: ``BSONError`` when the journal is damaged.
    init?(_ document: BSONDocument) throws(BSONError) {
        guard let before = document[Self.before]?.document, let after = JournalDigest(document[Self.after]),
            let ids = document[Self.ids]?.document
        else { return nil }
        self.before = before
        self.after = after
        self.ids = ids.values
        added = document[Self.added]?.document?.values.compactMap(\.text) ?? []
        places = document[Self.places]?.document?.values.compactMap(\.integer)
        names = (try before.elements().map(\.name) + added).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    /// The changed fields of a document as they are now, in the form that ``before`` and the digest have.
    func fields(of document: BSONDocument) throws(BSONError) -> BSONDocument {
        var builder = BSONBuilder()
        let view = document.view
        for name in names {
            if let element = try view.find(name) { builder.append(element, of: view) }
        }
        return builder.finish()
    }
}
