import BSON
import Jobs
import ServerSchema

extension ServerSchema {
    /// What the schema says of the fields that a job's steps name: all that decides whether they fit it, and whether they
    /// can do harm.
    ///
    /// To look at a whole schema for each of many steps would take the square of its size.
    func narrowed(to job: Job) -> ServerSchema {
        let kinds = job.steps.map(\.step.kind)
        // What a step makes in another collection is judged by that one's schema.
        guard kinds.allSatisfy(\.namespaces.isEmpty), let collection = self[job.namespace] else { return self }
        let named = kinds.flatMap { $0.touched + $0.sources + $0.looksInto }.map { $0.components[...] }
        let related = RelatedPaths(named.map(Array.init))
        var narrow = self
        var own = collection
        own.root = own.root.narrowed(to: named + [["_id"]])
        own.relationships = own.relationships.filter { related.contain($0.source.leadingFields) }
        (narrow.neighbours, narrow.sources, narrow.collections) = ([], [], [own])
        return narrow
    }
}

extension SchemaNode {
    /// The schema with the fields alone that the paths lead through; whole, where one of them ends.
    fileprivate func narrowed(to paths: [ArraySlice<String>]) -> SchemaNode {
        guard !paths.contains(where: \.isEmpty) else { return self }
        var narrow = self
        let inner = Dictionary(grouping: paths) { $0.first ?? "" }.mapValues { $0.map { $0.dropFirst() } }
        if let elements = inner[FieldPath.each], case .each(let element)? = items {
            narrow.items = .each(element.narrowed(to: elements))
        }
        // Without any property it would be a dictionary.
        let names = Set(inner.keys).union(properties.prefix(1).map(\.name)).sorted()
        narrow.properties = names.compactMap { name in
            property(name).map { node in
                SchemaNode.Property(name: name, node: inner[name].map(node.narrowed) ?? node)
            }
        }
        narrow.required = names.filter(requires)
        return narrow
    }
}
