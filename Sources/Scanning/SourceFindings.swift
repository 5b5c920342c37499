package import BSON
package import Checking

/// The results for a source of documents.
package struct SourceFindings: Sendable {
    /// The tallies of the schemas, in the order of the schemas.
    package let tallies: [Tally]
    /// Further facts about the source.
    package let facts: SourceFacts
}

/// The facts about a source of documents, other than the documents.
package struct SourceFacts: Sendable {
    /// Remarks for the reader about the source, each a clause.
    package internal(set) var notes: [String] = []
    /// The collections among the reader's `others` that the source does not hold; empty for a file of one collection.
    package internal(set) var absent: [Namespace] = []

    /// The contents of a source for one collection.
    struct Holding {
        var hasDocuments: Bool
        /// The kind of the collection; `nil` if the source does not name the collection.
        var kind: DumpMetadata.Kind?
    }

    /// Notes the collections of which the source has no documents, and the reasons.
    /// - Throws: ``SourceError`` if it has no documents of any collection.
    mutating func explain(
        _ holdings: [(namespace: Namespace, holding: Holding)], of name: String,
        others: [Namespace], _ purpose: SourceReader.Purpose
    ) throws(SourceError) {
        let absent = holdings.filter { !$0.holding.hasDocuments }.map { Self.note($0.namespace, $0.holding.kind, name) }
        guard absent.count < holdings.count else { throw Self.nothing(holdings, name, others, purpose) }
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
        _ holdings: [(namespace: Namespace, holding: Holding)], _ name: String, _ others: [Namespace],
        _ purpose: SourceReader.Purpose
    ) -> SourceError {
        if let named = holdings.first(where: { $0.holding.kind != nil }) {
            return SourceError(
                "there is nothing to \(purpose == .check ? "check" : "read"): "
                    + note(named.namespace, named.holding.kind, name))
        }
        let wanted = holdings.first.map { ", such as \($0.namespace)" } ?? ""
        let asked = purpose == .check ? "any collection of the schema" : "a collection that was asked for"
        let held = others.prefix(5).map(\.description).joined(separator: ", ") + (others.count > 5 ? ", …" : "")
        return SourceError(
            "\(name) holds no documents of \(asked)\(wanted)"
                + (others.isEmpty ? "" : " (it holds \(held))"))
    }
}

/// The error of a source of documents that cannot be used; for a damaged source the error is a `DumpError`.
package struct SourceError: Error, CustomStringConvertible {
    /// The problem, its place, and how to solve it.
    package let description: String

    init(_ description: String) { self.description = description }

    /// Returns the error for a source of unknown kind; it names the known kinds.
    static func unknownKind(_ name: String) -> SourceError {
        SourceError(
            "\(name) is neither BSON nor extended JSON: give a mongodump folder, a .bson file, a mongodump "
                + "archive, or a mongoexport file of JSON (not CSV), each plain or compressed with gzip")
    }
}
