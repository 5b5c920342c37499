internal import Synchronization

/// An index of a collection's links by the path that each link starts from.
///
/// Without an index, each lookup would search all links. A collection may have as many links as fields, and there is
/// one lookup for each field.
final class LinkIndex: Sendable {
    let bySource: [SchemaPath: Relationship]
    let fields: RelatedPaths

    init(_ links: [Relationship]) {
        bySource = Dictionary(links.map { ($0.source, $0) }) { first, _ in first }
        // A link's path is cut off after its first field with an array or a dictionary. A job's path that leads into
        // this array or dictionary then begins with the link's path, so the lookup finds the link.
        fields = RelatedPaths(links.map(\.source.leadingFields))
    }
}

extension CollectionSchema {
    /// Returns the link that starts from the path `source`; `nil` if there is none.
    package func link(from source: SchemaPath) -> Relationship? { links?.bySource[source] }

    /// Whether a link starts from the field at `path`, from a field that contains it, or from a field inside it.
    package func hasLink(around path: [String]) -> Bool { links?.fields.contain(path) ?? false }
}

/// A set of field paths that finds related paths.
///
/// Two paths are related if they are equal, or if one is a prefix of the other.
package struct RelatedPaths: Sendable {
    private let ends: Set<[String]>
    private let above: Set<[String]>

    /// Creates a set of paths, each given by its field names.
    package init(_ paths: [[String]]) {
        ends = Set(paths)
        above = Set(paths.flatMap { path in path.indices.map { Array(path.prefix($0)) } })
    }

    /// Whether the set has a path that equals `path`, is a prefix of `path`, or begins with `path`.
    package func contain(_ path: [String]) -> Bool {
        above.contains(path) || (0...path.count).contains { ends.contains(Array(path.prefix($0))) }
    }
}

/// The positions of names in a long list, computed at the first lookup.
///
/// An index is valid for one list only; if the list changes, its owner creates a new index.
package final class NameIndex: Sendable {
    /// The length up to which a list is searched name by name, without an index.
    private static let smallCount = 16

    private let positions = Mutex<[String: Int]?>(nil)

    /// Creates an index for a list of any length.
    package init() {}

    /// Creates an index for a list of `count` names; `nil` if the list is short.
    package init?(count: Int) { guard count > Self.smallCount else { return nil } }

    /// Returns the first position of a name; `nil` if `names` does not contain it.
    package func position(of name: String, among names: some Collection<String>) -> Int? {
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

extension Array {
    /// Returns the first element with a name; `nil` if there is none.
    /// - Parameter index: the index of the array's names; `nil` to compare name by name.
    func first(named name: String, by index: NameIndex?, _ own: @escaping (Element) -> String) -> Element? {
        let position =
            if let index { index.position(of: name, among: lazy.map(own)) } else { firstIndex { own($0) == name } }
        return position.map { self[$0] }
    }
}
