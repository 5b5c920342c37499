import BSON
import ServerSchema

/// The renames that the operator states, resolved against the older and the newer schema.
struct RenameMap {
    /// The collections that moved, from the older name to the newer.
    var collections: [Namespace: Namespace] = [:]
    /// The newer names of the renamed properties, by collection and path in the older schema.
    var properties: [Namespace: [SchemaPath: String]] = [:]

    /// Returns the newer name of a collection of the older schema, which is the same if the collection did not move.
    func newName(of namespace: Namespace) -> Namespace { collections[namespace] ?? namespace }

    /// Returns the newer name of a field of the older schema; `nil` when it keeps its name.
    func newName(of path: SchemaPath, in namespace: Namespace) -> String? { properties[namespace]?[path] }

    /// Returns the path in the newer schema of the field at a path in the older one.
    func newPath(of path: SchemaPath, in namespace: Namespace) -> SchemaPath {
        var (old, new) = (SchemaPath(), SchemaPath())
        for step in path.steps {
            old = old.appending(step)
            new = new.appending(newName(of: old, in: namespace).map { .field($0) } ?? step)
        }
        return new
    }
}
