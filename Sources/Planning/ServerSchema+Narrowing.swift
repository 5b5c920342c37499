import BSON
import Jobs
import ServerSchema

extension ServerSchema {
    /// Returns the part of the schema that covers the fields of a job's steps.
    ///
    /// It decides whether the steps fit the schema, and whether they can make documents unsyncable. Checking each of
    /// many steps against the whole schema would take time quadratic in its size.
    func narrowed(to job: Job) -> ServerSchema {
        let kinds = job.steps.map(\.step.kind)
        // Documents that a step creates in another collection are judged by the schema of that collection.
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
    /// Returns the schema with only the fields that the paths lead through; it is whole where one of the paths ends.
    fileprivate func narrowed(to paths: [ArraySlice<String>]) -> SchemaNode {
        guard !paths.contains(where: \.isEmpty) else { return self }
        var narrow = self
        let inner = Dictionary(grouping: paths) { $0.first ?? "" }.mapValues { $0.map { $0.dropFirst() } }
        if let elements = inner[FieldPath.each], case .each(let element)? = items {
            narrow.items = .each(element.narrowed(to: elements))
        }
        // Without any property, the object would count as a dictionary.
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
