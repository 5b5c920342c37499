package import BSON

/// The documents to which a link leads, and the fields by which they are looked up.
package struct LinkTarget: Hashable, Sendable {
    /// The collection of the documents, as the schema names it.
    package let namespace: Namespace
    /// The fields that contain the key; several if the key is compound.
    package let fields: [String]

    init(_ namespace: Namespace, _ fields: [String]) { (self.namespace, self.fields) = (namespace, fields) }

    /// Returns the key of a document, which equals the ``LinkedKey/key`` of each link to it; `nil` if a field of the
    /// key is missing.
    /// - Throws: ``BSONError`` if the document is damaged.
    package func key(of document: borrowing BSONView) throws(BSONError) -> IDKey? {
        var parts: [BSONValue] = []
        for field in fields {
            guard let element = try document.find(field) else { return nil }
            parts.append(try document.value(element))
        }
        return Self.key(parts)
    }

    package func filter(_ keys: [BSONValue]) -> BSONDocument {
        if fields.count == 1 { return [fields[0]: ["$in": .array(of: keys)]] }
        let each = keys.map { key in
            guard case .array(let parts) = key else { preconditionFailure("a compound key is an array") }
            return BSONValue.object(BSONDocument(Array(zip(fields, parts.values))))
        }
        return ["$or": .array(of: each)]
    }

    static func key(_ parts: [BSONValue]) -> IDKey {
        parts.count == 1 ? IDKey(parts[0]) : IDKey(.array(of: parts.map { IDKey($0).value }))
    }
}

/// A finding about a document to which a link leads.
package struct LinkFinding: Hashable, Sendable {
    /// The kinds of findings about a linked document.
    package enum Kind: Hashable, Sendable {
        /// No document has the key that the link holds.
        case dangling
        /// The document to which the link leads is itself unsyncable.
        case targetUnsyncable
    }

    package let kind: Kind
    /// The index of the link among the schema's links.
    package let link: Int
    package let type: BSONType

    package init(_ kind: Kind, link: Int, type: BSONType) {
        self.kind = kind
        self.link = link
        self.type = type
    }
}
