internal import Synchronization

/// An index of a collection's links by place, because there may be as many as fields and each field is looked up.
final class LinkIndex: Sendable {
    let bySource: [SchemaPath: Relationship]
    let fields: RelatedPaths

    init(_ links: [Relationship]) {
        bySource = Dictionary(links.map { ($0.source, $0) }) { first, _ in first }
        // A step of a job names the field of an array or a dictionary, whatever the path into it.
        fields = RelatedPaths(links.map(\.source.leadingFields))
    }
}

extension CollectionSchema {
    /// Returns the link that starts from a place; `nil` if there is none.
    package func link(from source: SchemaPath) -> Relationship? { links?.bySource[source] }

    /// Whether a link starts from a path of fields, above it, or below it.
    package func hasLink(around path: [String]) -> Bool { links?.fields.contain(path) ?? false }
}

/// A set of paths that can show whether one of them is equal to, above or below any given path.
package struct RelatedPaths: Sendable {
    private let ends: Set<[String]>
    private let above: Set<[String]>

    /// Creates a set of paths, each given by the names that it consists of.
    package init(_ paths: [[String]]) {
        ends = Set(paths)
        above = Set(paths.flatMap { path in path.indices.map { Array(path.prefix($0)) } })
    }

    /// Whether one of the paths is equal to, above or below this one.
    package func contain(_ path: [String]) -> Bool {
        above.contains(path) || (0...path.count).contains { ends.contains(Array(path.prefix($0))) }
    }
}

/// The positions of names in a long list, computed at first use; a list that changes gets a new index.
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
