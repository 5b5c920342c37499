import BSON
import ServerSchema

extension CompiledSchema {
    /// A field that holds the keys of documents of another collection.
    struct Link: Sendable {
        /// The node of the key itself: of the field, or of the elements or values.
        var node: Int
        var target: Namespace
        var foreignKey: String
    }
}

extension SchemaCompiler {
    /// Lets the keys that a collection's links hold be judged by the types of the keys that they are compared with.
    mutating func compileLinks(of collection: CollectionSchema) {
        for link in collection.relationships {
            guard let index = keyNode(link.source) else { continue }
            let scalars = TypeMask.all.subtracting([.object, .array])
            guard nodes[index].accepts.isSubset(of: scalars), !nodes[index].flags.contains(.mixed) else { continue }
            nodes[index].flags.insert(.link)
            if let types = surroundings.keyTypes(of: link) { narrow(&nodes[index], to: types) }
            expectations[index] = "link to \(link.target) (\(expectations[index]))"
            links.append(.init(node: index, target: link.target, foreignKey: link.foreignKey))
        }
    }

    /// The node that a path leads to, or that of its elements or values; `nil` when the schema has no such place.
    private func keyNode(_ path: SchemaPath) -> Int? {
        var index = 0
        for step in path.steps {
            let next: Int? =
                switch step {
                case .field(let name): field(name, of: index)
                case .elements, .values: content(of: index)
                }
            guard let next else { return nil }
            index = next
        }
        return content(of: index) ?? index
    }

    private func field(_ name: String, of index: Int) -> Int? {
        let range = nodes[index].fields
        return (range.first..<range.first + range.count).first { table.name(Int($0)) == name }
            .map { Int(fields[Int($0)].node) }
    }

    private func content(of index: Int) -> Int? {
        let node = nodes[index]
        if node.items >= 0, node.tupleCount == 0 { return Int(node.items) }
        return node.flags.contains(.dictionary) ? Int(node.additional) : nil
    }
}

// MARK: links in mixed values

extension SchemaCompiler {
    /// Lists the collections that a DBRef may lead to.
    mutating func compileReferences(from namespace: Namespace) {
        for target in surroundings.synced ?? [] {
            let types = target.root.property("_id")?.types ?? []
            references.append(
                CompiledSchema.Reference(
                    database: table.key(target.namespace.database),
                    collection: table.key(target.namespace.collection),
                    isNear: target.namespace.database == namespace.database,
                    idTypes: types.isEmpty ? .all : TypeMask(keyOf: types),
                    hasUUIDs: types.isEmpty || types.contains(.uuid)))
        }
    }
}
