package import BSON
package import Checking

/// What was found in a source of documents.
package struct SourceFindings: Sendable {
    /// A tally per schema, in the order of the schemas.
    package let tallies: [Tally]
    /// What else there is to say of the source.
    package let facts: SourceFacts
}

/// What a source of documents says of itself.
package struct SourceFacts: Sendable {
    /// What the reader should know of the source, a clause each.
    package internal(set) var notes: [String] = []
    /// Which of the other collections that were asked about the source does not hold; one file says nothing of others.
    package internal(set) var absent: [Namespace] = []

    /// What a source holds of one collection.
    struct Holding {
        var hasDocuments: Bool
        /// `nil` when the source does not name the collection.
        var kind: DumpMetadata.Kind?
    }

    /// Says which collections the source has no documents of, and why.
    /// - Throws: ``SourceError`` when it has none of any.
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
        case .timeSeries: "\(namespace) is a time series in \(name), and a dump holds only the buckets of those"
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

/// A source of documents that cannot be used as it was named; a damaged one is a `DumpError`.
package struct SourceError: Error, CustomStringConvertible {
    /// What is wrong, where, and how to mend it.
    package let description: String

    init(_ description: String) { self.description = description }

    /// What nobody can read, with the kinds that can be.
    static func unknownKind(_ name: String) -> SourceError {
        SourceError(
            "\(name) begins neither as BSON nor as extended JSON: give a mongodump folder, a .bson file, a mongodump "
                + "archive, or a mongoexport file of JSON (not CSV), each plain or compressed with gzip")
    }
}
