internal import Synchronization

/// An index of a collection's links by the path that each starts from.
///
/// A collection may have as many links as fields, and a lookup is made for each field.
final class LinkIndex: Sendable {
    let bySource: [SchemaPath: Relationship]
    let fields: RelatedPaths

    init(_ links: [Relationship]) {
        bySource = Dictionary(links.map { ($0.source, $0) }) { first, _ in first }
        // The path in a job's step ends at the field that holds an array or a dictionary, so the links' paths are cut
        // there.
        fields = RelatedPaths(links.map(\.source.leadingFields))
    }
}

extension CollectionSchema {
    /// Returns the link that starts from the path `source`; `nil` if there is none.
    package func link(from source: SchemaPath) -> Relationship? { links?.bySource[source] }

    /// Whether a link starts from the field at `path`, from a field that contains it, or from a field inside it.
    package func hasLink(around path: [String]) -> Bool { links?.fields.contain(path) ?? false }
}

/// A set of field paths.
///
/// It answers whether a given path equals one of them, contains one, or is inside one.
package struct RelatedPaths: Sendable {
    private let ends: Set<[String]>
    private let above: Set<[String]>

    /// Creates a set of paths, each given by its field names.
    package init(_ paths: [[String]]) {
        ends = Set(paths)
        above = Set(paths.flatMap { path in path.indices.map { Array(path.prefix($0)) } })
    }

    /// Whether one of the set's paths equals `path`, leads to a field that contains it, or leads to a field inside it.
    package func contain(_ path: [String]) -> Bool {
        above.contains(path) || (0...path.count).contains { ends.contains(Array(path.prefix($0))) }
    }
}

/// The positions of names in a long list, computed at the first lookup.
///
/// When the list changes, it gets a new index.
final class NameIndex: Sendable {
    /// Lists up to this length are searched name by name.
    private static let smallCount = 16

    private let positions = Mutex<[String: Int]?>(nil)

    /// Creates an index for a list of `count` names; `nil` if the list is short.
    init?(count: Int) { guard count > Self.smallCount else { return nil } }

    /// Returns the first position of a name; `nil` if `names` does not contain it.
    func position(of name: String, among names: some Collection<String>) -> Int? {
        positions.withLock { positions in
            let known =
                positions
                ?? Dictionary(
                    names.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
            positions = known
            return known[name]
        }
    }
}
