internal import ArgumentParser
internal import BSON

/// One `--map`: where the documents of a database, or of a collection, of the schema are.
struct NamespaceMapping: ExpressibleByArgument, Hashable {
    /// As the operator wrote it.
    let text: String
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

    /// Where the documents of a database are.
    init(database: String, in other: String) {
        (text, from, to) = ("\(database)=\(other)", .database(database), .database(other))
    }

    init?(argument: String) {
        let sides = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2, let from = Name(sides[0]), let to = Name(sides[1]) else { return nil }
        switch (from, to) {
        case (.database, .database), (.collection, .collection): break
        default: return nil
        }
        (text, self.from, self.to) = (argument, from, to)
    }

    /// Whether it names the collection itself, and not its whole database.
    fileprivate var isExact: Bool { if case .collection = from { true } else { false } }

    /// Where the collection is; `nil` when this says nothing of it.
    fileprivate func target(of namespace: Namespace) -> Namespace? {
        switch (from, to) {
        case (.database(let from), .database(let to)) where from == namespace.database:
            Namespace(database: to, collection: namespace.collection)
        case (.collection(let from), .collection(let to)) where from == namespace: to
        default: nil
        }
    }
}

/// Where the documents of a schema's collections are, when other names are used there.
///
/// The ledger is looked up, and findings are shown, under the schema's own names: a copy's ledger still names those.
struct NamespaceMap {
    private let mappings: [NamespaceMapping]

    /// - Throws: ``UsageError`` for a mapping that concerns no collection, and for two collections in one place.
    init(_ mappings: [NamespaceMapping], for namespaces: [Namespace]) throws {
        // What names a collection wins over what names its database.
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

    /// Where the collection's documents are.
    func target(of namespace: Namespace) -> Namespace {
        mappings.lazy.compactMap { $0.target(of: namespace) }.first ?? namespace
    }
}
