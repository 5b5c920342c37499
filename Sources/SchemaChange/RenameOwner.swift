import BSON
import ServerSchema

/// A type whose property a rename may name.
struct RenameOwner {
    /// The name as the operator wrote it.
    let name: String
    /// The type's collection.
    let namespace: Namespace
    /// The place where the type is embedded; the root for a collection's own type.
    let path: SchemaPath
    /// The schema of the type.
    let node: SchemaNode
    /// The names that lead from the type to the property.
    let names: [String]

    /// Whether both are the same type, because a type that is embedded in several places is renamed in all of them.
    func isSame(as other: Self) -> Bool {
        name == other.name && path.isRoot == other.path.isRoot
    }
}

extension CollectionSchema {
    /// A type: the collection's own, or an embedded one.
    struct ObjectType {
        let namespace: Namespace
        let path: SchemaPath
        let node: SchemaNode
    }

    /// The collection's type, and all types that are embedded in it.
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
