package import BSON
import LocatedYAML
import Yams

/// A limit that an operator set for a started job, in the place of the job file's.
package struct LimitOverride: Hashable, Sendable {
    /// Its name below `limits`, such as `nice` or `chunk.documents`.
    package var name: String
    /// Its value, as the job file would spell it.
    package var value: String

    /// Joins the two; a limit's former name stands for its present one.
    package init(name: String, value: String) {
        self.name = Limit.named(name)?.name ?? name
        self.value = value
    }

    /// All that the state database holds: the names' parts are nested there, since a field's name has no dot.
    package static func all(in document: BSONDocument, below prefix: String = "") -> [LimitOverride] {
        ((try? document.elements()) ?? []).flatMap { name, value in
            switch value {
            case .object(let inner): all(in: inner, below: "\(prefix)\(name).")
            default: value.text.map { [LimitOverride(name: prefix + name, value: $0)] } ?? []
            }
        }
    }
}

extension Job {
    /// The limits with those that an operator set in the place of the file's, read by the same parser.
    /// - Throws: ``JobError`` when a limit has no such name, or cannot have that value.
    package func limits(overriddenBy overrides: [LimitOverride]) throws(JobError) -> Limits {
        guard !overrides.isEmpty else { return limits }
        var node = try YAMLFile.root(of: text, path: path).node.mapping?["limits"] ?? Node([(Node, Node)]())
        for override in overrides {
            guard let value = try YAMLFile.rootIfAny(of: override.value, path: override.name)?.node else { continue }
            guard value.mapping == nil else {
                throw JobError("\(override.name): set each limit by its own name, such as chunk.documents=1000")
            }
            // The file may have it under its former name.
            if let alias = Limit.named(override.name)?.alias { node = node.removing(alias) }
            node = node.setting(override.name.split(separator: ".", omittingEmptySubsequences: false)[...], to: value)
        }
        return try Job.Limits.read(YAMLNode(node: node, file: path))
    }
}

extension Node {
    /// The mapping without a member.
    fileprivate func removing(_ name: String) -> Node {
        guard var mapping else { return self }
        mapping[Node(name)] = nil
        return .mapping(mapping)
    }

    /// The mapping with the member that a path of names leads to; what is no mapping on the way becomes one.
    fileprivate func setting(_ path: ArraySlice<Substring>, to value: Node) -> Node {
        guard let name = path.first.map(String.init) else { return value }
        var mapping = self.mapping ?? Mapping([])
        mapping[Node(name)] = (mapping[Node(name)] ?? Node([(Node, Node)]())).setting(path.dropFirst(), to: value)
        return .mapping(mapping)
    }
}
