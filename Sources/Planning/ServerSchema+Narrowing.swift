import BSON
import Jobs
import ServerSchema

extension ServerSchema {
    /// Returns the schema; `nil` if it says nothing about a collection, as in a plan for an engine without a schema.
    func describing(_ namespace: Namespace) -> ServerSchema? {
        guard let root = self[namespace]?.root, root.types.isEmpty, root.properties.isEmpty else { return self }
        return nil
    }

    /// Returns the part of the schema that suffices to check whether a job's steps fit the schema, and whether they can
    /// make documents unsyncable.
    ///
    /// If each of many steps were checked against the whole schema, the time would be quadratic in the size of the
    /// schema.
    func narrowed(to job: Job) -> ServerSchema {
        let kinds = job.steps.map(\.step.kind)
        // A step that creates documents in another collection is checked against that collection's schema too. The
        // whole schema is therefore kept for every job with a step that reads or writes another collection.
        guard kinds.allSatisfy(\.namespaces.isEmpty), let collection = self[job.namespace] else { return self }
        let named = kinds.flatMap { $0.touched + $0.sources + $0.readsInside }.map { $0.components[...] }
        let related = RelatedPaths(named.map(Array.init))
        var narrow = self
        var own = collection
        own.root = own.root.narrowed(to: named + [["_id"]])
        // The types are written out in the narrowed schema.
        own.types = [:]
        own.relationships = own.relationships.filter { related.contain($0.source.leadingFields) }
        (narrow.neighbours, narrow.sources, narrow.collections) = ([], [], [own])
        return narrow
    }
}

extension SchemaNode {
    /// Returns the schema with only the fields on the given paths.
    ///
    /// The schema at the end of a path stays whole.
    fileprivate func narrowed(to paths: [ArraySlice<String>]) -> SchemaNode {
        guard !paths.contains(where: \.isEmpty) else { return self }
        var narrow = self
        let inner = Dictionary(grouping: paths) { $0.first ?? "" }.mapValues { $0.map { $0.dropFirst() } }
        if let elements = inner[FieldPath.each], case .each(let element)? = items {
            narrow.items = .each(element.narrowed(to: elements))
        }
        // One property is kept in any case, because an object without properties could count as a dictionary.
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
