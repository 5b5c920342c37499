package import BSON
package import ServerSchema

extension ServerSchema {
    /// Returns the paths in the app's collections that hold keys of documents of `target`, each path with its
    /// collection.
    ///
    /// Only links by `_id` count.
    package func links(to target: Namespace) -> [(namespace: Namespace, path: SchemaPath)] {
        (collections + neighbours).flatMap { collection in
            collection.relationships.filter { $0.target == target && $0.foreignKey == "_id" }.map {
                (collection.namespace, collection.keyPath(of: $0))
            }
        }
    }
}

extension [SchemaChange] {
    /// The target collections of the links that the newer schema replaces by embedded objects.
    package var embeddedTargets: [Namespace] {
        Set(filter { $0.code == .embeddingChanged }.compactMap(\.old?.link?.target)).sorted()
    }
}
