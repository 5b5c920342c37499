internal import Synchronization

/// Finds the links of a collection by their place: there may be as many as fields, and each field is asked about.
final class LinkIndex: Sendable {
    let bySource: [SchemaPath: Relationship]
    let fields: RelatedPaths

    init(_ links: [Relationship]) {
        bySource = Dictionary(links.map { ($0.source, $0) }) { first, _ in first }
        // Whatever the way into arrays and dictionaries is, their field is what a step of a job names.
        fields = RelatedPaths(links.map(\.source.leadingFields))
    }
}

extension CollectionSchema {
    /// The link that starts from a place.
    package func link(from source: SchemaPath) -> Relationship? { links?.bySource[source] }

    /// Whether a link starts from a path of fields, above it, or below it.
    package func hasLink(around path: [String]) -> Bool { links?.fields.contain(path) ?? false }
}

/// A set of paths that tells of any path whether one of them is that path, or stands above or below it.
package struct RelatedPaths: Sendable {
    private let ends: Set<[String]>
    private let above: Set<[String]>

    /// Takes the names that each path consists of.
    package init(_ paths: [[String]]) {
        ends = Set(paths)
        above = Set(paths.flatMap { path in path.indices.map { Array(path.prefix($0)) } })
    }

    /// Whether one of the paths is this one, or stands above or below it.
    package func contain(_ path: [String]) -> Bool {
        above.contains(path) || (0...path.count).contains { ends.contains(Array(path.prefix($0))) }
    }
}

/// Where names stand in a list of many, made when first asked for; a list that changes gets a new one.
final class NameIndex: Sendable {
    /// Lists up to this length are searched name by name.
    private static let smallCount = 16

    private let positions = Mutex<[String: Int]?>(nil)

    /// For a list of so many names; `nil` where it is short.
    init?(count: Int) { guard count > Self.smallCount else { return nil } }

    /// The first place of a name; `nil` where it is none of `names`.
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
