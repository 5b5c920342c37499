import BSON
import ServerSchema

/// The stated renames, resolved against two schemas.
struct RenameMap {
    /// The collections that moved, from the older name to the newer.
    var collections: [Namespace: Namespace] = [:]
    /// The renamed properties by the older collection and place, with their newer names.
    var properties: [Namespace: [SchemaPath: String]] = [:]

    /// Returns the newer name of a collection of the older schema.
    func newName(of namespace: Namespace) -> Namespace { collections[namespace] ?? namespace }

    /// Returns the newer name of a field of the older schema; `nil` when it keeps its name.
    func newName(of path: SchemaPath, in namespace: Namespace) -> String? { properties[namespace]?[path] }

    /// Returns the place in the newer schema of a place in the older one.
    func newPath(of path: SchemaPath, in namespace: Namespace) -> SchemaPath {
        var (old, new) = (SchemaPath(), SchemaPath())
        for step in path.steps {
            old = old.appending(step)
            new = new.appending(newName(of: old, in: namespace).map { .field($0) } ?? step)
        }
        return new
    }
}
