package import BSON
package import Checking

/// The results of checking a source of documents, such as a dump.
package struct SourceFindings: Sendable {
    /// The tallies, one for each schema, in the order of the schemas.
    package let tallies: [Tally]
    /// The facts about the source itself.
    package internal(set) var facts: SourceFacts
    /// The guarantees that each result lacks, in the order of the schemas.
    package internal(set) var missing: [[MissingGuarantee]] = []
}

/// The facts about a source of documents, such as a dump, apart from the documents.
package struct SourceFacts: Sendable {
    /// Notes about the source for the user, each a clause.
    package internal(set) var notes: [String] = []
    /// The collections in ``SourceReader/others`` that the source does not contain.
    ///
    /// The list is empty for a file that contains the documents of only one collection.
    package internal(set) var absent: [Namespace] = []

    /// The facts about one collection in a source: whether it has documents, and its kind.
    struct Presence {
        var hasDocuments: Bool
        /// The kind of the collection; `nil` if the source does not name the collection.
        var kind: DumpMetadata.Kind?
    }

    /// Adds a note on each collection of which the source has no documents.
    /// - Throws: ``SourceError`` if the source has no documents of any collection.
    mutating func explain(
        _ collections: [(namespace: Namespace, presence: Presence)], of name: String,
        others: [Namespace], _ purpose: SourceReader.Purpose
    ) throws(SourceError) {
        let absent = collections.filter { !$0.presence.hasDocuments }.map {
            Self.note($0.namespace, $0.presence.kind, name)
        }
        guard absent.count < collections.count else { throw Self.nothing(collections, name, others, purpose) }
        notes += absent
    }

    private static func note(_ namespace: Namespace, _ kind: DumpMetadata.Kind?, _ name: String) -> String {
        switch kind {
        case .view: "\(namespace) is a view in \(name), and a dump holds no documents of a view"
        case .timeSeries: "\(namespace) is a time series in \(name), and a dump holds only the buckets of a time series"
        case .collection, nil: "\(name) holds no documents of \(namespace)"
        }
    }

    private static func nothing(
        _ collections: [(namespace: Namespace, presence: Presence)], _ name: String, _ others: [Namespace],
        _ purpose: SourceReader.Purpose
    ) -> SourceError {
        if let named = collections.first(where: { $0.presence.kind != nil }) {
            return SourceError(
                "there is nothing to \(purpose == .check ? "check" : "read"): "
                    + note(named.namespace, named.presence.kind, name))
        }
        let wanted = collections.first.map { ", such as \($0.namespace)" } ?? ""
        let asked = purpose == .check ? "any collection of the schema" : "a collection that was asked for"
        let held = others.prefix(5).map(\.description).joined(separator: ", ") + (others.count > 5 ? ", …" : "")
        return SourceError(
            "\(name) holds no documents of \(asked)\(wanted)"
                + (others.isEmpty ? "" : " (it holds \(held))"))
    }
}

/// The error that a source of documents cannot be used; a damaged source causes a `DumpError` instead.
package struct SourceError: Error, CustomStringConvertible {
    /// The message, which says what the problem is and where.
    package let description: String

    init(_ description: String) { self.description = description }

    /// Returns the error for a source of an unknown kind, which names the known kinds.
    static func unknownKind(_ name: String) -> SourceError {
        SourceError(
            "\(name) is neither BSON nor extended JSON: give a mongodump folder, a .bson file, a mongodump "
                + "archive, or a mongoexport file of JSON (not CSV), each plain or compressed with gzip")
    }
}
