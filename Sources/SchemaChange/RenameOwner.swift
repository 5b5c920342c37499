import BSON
import ServerSchema

/// An object type to which a renamed property may belong, because OLD in the rename `OLD=NEW` begins with the type's
/// title or its collection.
struct RenameOwner {
    /// The name that the operator wrote for the type: a title or a collection.
    let name: String
    /// The collection whose documents have the type, or contain objects of the type.
    let namespace: Namespace
    /// The path of the embedded objects with the type; the root if the documents themselves have the type.
    let path: SchemaPath
    let node: SchemaNode
    /// The field names that lead from the type to the property.
    let names: [String]

    /// Whether two owners are the same type, perhaps at different paths.
    ///
    /// If objects of a type are embedded at several paths, the rename applies to all of them.
    func isSame(as other: Self) -> Bool {
        name == other.name && path.isRoot == other.path.isRoot
    }
}

extension CollectionSchema {
    /// An object type: the type of a collection's documents, or the type of embedded objects in them.
    struct ObjectType {
        let namespace: Namespace
        let path: SchemaPath
        let node: SchemaNode
    }

    /// The type of the collection's documents, and the types of the objects embedded in them.
    ///
    /// Objects in fields, lists and dictionaries count. Objects elsewhere, such as in tuples or in `patternProperties`,
    /// are left out.
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
    /// The titles of all types, including those of embedded objects.
    var typeNames: Set<String> { Set(collections.flatMap(\.types).compactMap(\.node.typeName)) }

    /// Whether a type has this title.
    func hasType(_ name: String) -> Bool { typeNames.contains(name) }
}
