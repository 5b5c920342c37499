import BSON
import ServerSchema

/// The stated renames, resolved against two schemas.
struct RenameMap {
    /// The collections that moved, from the older name to the newer.
    var collections: [Namespace: Namespace] = [:]
    /// The renamed properties by the older collection and place, with their newer names.
    var properties: [Namespace: [SchemaPath: String]] = [:]

    /// What a collection of the older schema is called in the newer.
    func newName(of namespace: Namespace) -> Namespace { collections[namespace] ?? namespace }

    /// What a field of the older schema is called in the newer; `nil` when it keeps its name.
    func newName(of path: SchemaPath, in namespace: Namespace) -> String? { properties[namespace]?[path] }

    /// Where a place of the older schema is in the newer.
    func newPath(of path: SchemaPath, in namespace: Namespace) -> SchemaPath {
        var (old, new) = (SchemaPath(), SchemaPath())
        for step in path.steps {
            old = old.appending(step)
            new = new.appending(newName(of: old, in: namespace).map { .field($0) } ?? step)
        }
        return new
    }
}
