package import BSON
import Files

/// One `--map`: a database or collection of the schema, and the database or collection from which its documents are
/// read.
package struct NamespaceMapping: Hashable, Sendable {
    /// The mapping in the notation of `--map`, for messages.
    package let text: String
    private let from: Name
    private let to: Name

    private enum Name: Hashable {
        case database(String)
        case collection(Namespace)

        init?(_ text: Substring) {
            if let namespace = Namespace(String(text)) {
                self = .collection(namespace)
            } else if !text.isEmpty, !text.contains(".") {
                self = .database(String(text))
            } else {
                return nil
            }
        }
    }

    /// Creates the mapping of a database: the documents of the schema's database `database` are read from the database
    /// `other`.
    package init(database: String, in other: String) {
        (text, from, to) = ("\(database)=\(other)", .database(database), .database(other))
    }

    package init?(argument: String) {
        let sides = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2, let from = Name(sides[0]), let to = Name(sides[1]) else { return nil }
        switch (from, to) {
        case (.database, .database), (.collection, .collection): break
        default: return nil
        }
        (text, self.from, self.to) = (argument, from, to)
    }

    /// Whether the mapping names a collection, and not a whole database.
    fileprivate var isExact: Bool { if case .collection = from { true } else { false } }

    /// Returns the collection of the deployment that is read for a collection of the schema; `nil` if the mapping does
    /// not apply to the collection.
    fileprivate func target(of namespace: Namespace) -> Namespace? {
        switch (from, to) {
        case (.database(let from), .database(let to)) where from == namespace.database:
            Namespace(database: to, collection: namespace.collection)
        case (.collection(let from), .collection(let to)) where from == namespace: to
        default: nil
        }
    }
}

/// All `--map` flags of a command: for each collection of the schema, the collection of the deployment that is read.
///
/// The ledger and the findings keep the schema's own names, because the ledger of a copied deployment still has those
/// names.
package struct NamespaceMap {
    private let mappings: [NamespaceMapping]

    /// Creates the map from all `--map` flags of a command.
    /// - Throws: ``UsageError`` for a mapping that applies to no collection, and for two collections that would be read
    ///   from the same one.
    package init(_ mappings: [NamespaceMapping], for namespaces: [Namespace]) throws {
        // The mapping of a collection takes precedence over that of its database.
        self.mappings = mappings.filter(\.isExact) + mappings.filter { !$0.isExact }
        for mapping in mappings where !namespaces.contains(where: { mapping.target(of: $0) != nil }) {
            throw UsageError("--map \(mapping.text): the schema has no such database or collection")
        }
        var sources: [Namespace: Namespace] = [:]
        for namespace in namespaces {
            let place = target(of: namespace)
            if let other = sources.updateValue(namespace, forKey: place) {
                throw UsageError("--map: \(other) and \(namespace) would both be read from \(place)")
            }
        }
    }

    /// Returns the collection of the deployment that is read for a collection of the schema.
    ///
    /// If no mapping applies, the result is the collection of the same name.
    package func target(of namespace: Namespace) -> Namespace {
        mappings.lazy.compactMap { $0.target(of: namespace) }.first ?? namespace
    }
}
