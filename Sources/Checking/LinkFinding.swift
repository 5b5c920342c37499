package import BSON

/// A finding about a document to which a link leads.
package struct LinkFinding: Hashable, Sendable {
    /// The kinds of findings about a linked document.
    package enum Kind: Hashable, Sendable {
        /// No document has the key that the link holds.
        case dangling
        /// The document to which the link leads is itself unsyncable.
        case targetUnsyncable
    }

    /// The kind of the finding.
    package let kind: Kind
    /// The index of the link among the schema's links.
    package let link: Int
    /// The BSON type of the key that the link holds.
    package let type: BSONType

    /// Creates a finding.
    package init(_ kind: Kind, link: Int, type: BSONType) {
        self.kind = kind
        self.link = link
        self.type = type
    }
}
