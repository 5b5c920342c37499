package import BSON
package import ServerSchema

extension ServerSchema {
    /// Returns the collection and the path of all keys in the app that link to documents of `target` by their `_id`.
    package func links(to target: Namespace) -> [(namespace: Namespace, path: SchemaPath)] {
        (collections + neighbours).flatMap { collection in
            collection.relationships.filter { $0.target == target && $0.foreignKey == "_id" }.map {
                (collection.namespace, collection.keyPath(of: $0))
            }
        }
    }
}

extension [SchemaChange] {
    /// The collections whose documents become embedded objects where the older schema links to them.
    package var embeddedTargets: [Namespace] {
        Set(filter { $0.code == .embeddingChanged }.compactMap(\.old?.link?.target)).sorted()
    }
}
