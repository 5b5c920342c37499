package import BSON
import LocatedYAML
import Yams

/// A limit that an operator set for a started job, in place of the value in the job file.
package struct LimitOverride: Hashable, Sendable {
    /// The limit's name below `limits`, such as `nice` or `chunk.documents`.
    package var name: String
    /// The limit's new value, in the format of a job file.
    package var value: String

    /// Creates an override; if `name` is a former name of a limit, it is replaced by the current name.
    package init(name: String, value: String) {
        self.name = Limit.named(name)?.name ?? name
        self.value = value
    }

    /// Returns the overrides that the state database holds in `document`.
    ///
    /// A name with dots is stored as nested objects, because field names in the state database have no dots.
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
    /// Returns the job's limits with the overrides in place of the file's values.
    ///
    /// The parser of job files also reads the overrides, so the same rules apply to them.
    /// - Throws: ``JobError`` if an override names an unknown limit, or a value that the limit cannot have.
    package func limits(overriddenBy overrides: [LimitOverride]) throws(JobError) -> Limits {
        guard !overrides.isEmpty else { return limits }
        var node = try YAMLFile.root(of: text, path: path).node.mapping?["limits"] ?? Node([(Node, Node)]())
        for override in overrides {
            guard let value = try YAMLFile.rootIfAny(of: override.value, path: override.name)?.node else { continue }
            guard value.mapping == nil else {
                throw JobError("\(override.name): set each limit by its own name, such as chunk.documents=1000")
            }
            // A job file may name a known consumer, such as a sync engine, instead of the two rates at which it can
            // process the run's changes. The two rates then replace the name, because the override changes only one of
            // them.
            if override.name.hasPrefix("consumer.") { node = node.statingConsumer() }
            // The job file may state the limit under its former name. That name is removed, because a file must not
            // state both names.
            if let alias = Limit.named(override.name)?.alias { node = node.removing(alias) }
            node = node.setting(override.name.split(separator: ".", omittingEmptySubsequences: false)[...], to: value)
        }
        return try Job.Limits.read(YAMLNode(node: node, file: path))
    }
}

extension Node {
    fileprivate func removing(_ name: String) -> Node {
        guard var mapping else { return self }
        mapping[Node(name)] = nil
        return .mapping(mapping)
    }

    /// Returns the mapping with the two rates of a consumer in place of the consumer's name.
    ///
    /// Any other node is returned unchanged.
    fileprivate func statingConsumer() -> Node {
        guard var mapping, let name = mapping["consumer"]?.scalar?.string,
            let rate = ConsumerRate.known.first(where: { $0.name == name })?.rate
        else { return self }
        let rates = [("documents", rate.documents), ("bytes", rate.bytes)]
        mapping["consumer"] = Node(rates.compactMap { key, value in value.map { (Node(key), Node("\($0)")) } })
        return .mapping(mapping)
    }

    /// Returns the mapping with a new value at a path of names; a node on the path that is not a mapping is replaced by
    /// a mapping.
    fileprivate func setting(_ path: ArraySlice<Substring>, to value: Node) -> Node {
        guard let name = path.first.map(String.init) else { return value }
        var mapping = self.mapping ?? Mapping([])
        mapping[Node(name)] = (mapping[Node(name)] ?? Node([(Node, Node)]())).setting(path.dropFirst(), to: value)
        return .mapping(mapping)
    }
}
