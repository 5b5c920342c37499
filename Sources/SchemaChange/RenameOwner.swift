import BSON
import ServerSchema

/// An object type that the left side of a property's rename may begin with.
struct RenameOwner {
    /// The name of the type as the operator wrote it: a title or a collection.
    let name: String
    /// The collection whose documents are of the type, or contain it.
    let namespace: Namespace
    /// The path at which the type is embedded; the root for the type of the documents themselves.
    let path: SchemaPath
    /// The schema of the type.
    let node: SchemaNode
    /// The field names that lead from the type to the property.
    let names: [String]

    /// Whether both are the same type.
    ///
    /// A type that is embedded at several paths is renamed at all of them.
    func isSame(as other: Self) -> Bool {
        name == other.name && path.isRoot == other.path.isRoot
    }
}

extension CollectionSchema {
    /// An object type: the type of a collection's documents, or a type that is embedded in them.
    struct ObjectType {
        let namespace: Namespace
        let path: SchemaPath
        let node: SchemaNode
    }

    /// The type of the collection's documents, and all types that are embedded in them.
    var types: [ObjectType] { types(root, at: SchemaPath()) }

    private func types(_ node: SchemaNode, at path: SchemaPath) -> [ObjectType] {
        let own =
            node.isEmbedded || path.isRoot ? [ObjectType(namespace: namespace, path: path, node: node)] : []
        let fields = node.properties.flatMap { types($0.node, at: path.appending(.field($0.name))) }
        var inner: [ObjectType] = []
        if case .each(let element) = node.items { inner += types(element, at: path.appending(.elements)) }
        if let value = node.dictionaryValue { inner += types(value, at: path.appending(.values)) }
        return own + fields + inner
    }
}

extension ServerSchema {
    /// The titles of all types, including embedded ones.
    var typeNames: Set<String> { Set(collections.flatMap(\.types).compactMap(\.node.typeName)) }

    /// Whether a type has the title.
    func hasType(_ name: String) -> Bool { typeNames.contains(name) }
}
