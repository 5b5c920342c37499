import BSON
import ServerSchema

/// The renames from the older to the newer schema.
///
/// The operator states the renames, or two Prisma schemas show them by `@map` or `@@map`.
struct RenameMap {
    /// The newer names of the moved collections, by their older names.
    var collections: [Namespace: Namespace] = [:]
    /// The newer names of the renamed properties, by collection and path in the older schema.
    var properties: [Namespace: [SchemaPath: String]] = [:]

    /// Returns the newer name of a collection of the older schema; the same name if the collection did not move.
    func newName(of namespace: Namespace) -> Namespace { collections[namespace] ?? namespace }

    /// Returns the newer name of a field of the older schema; `nil` if the field keeps its name.
    func newName(of path: SchemaPath, in namespace: Namespace) -> String? { properties[namespace]?[path] }

    /// Returns the path that a field of the older schema has in the newer schema.
    func newPath(of path: SchemaPath, in namespace: Namespace) -> SchemaPath {
        var (old, new) = (SchemaPath(), SchemaPath())
        for step in path.steps {
            old = old.appending(step)
            new = new.appending(newName(of: old, in: namespace).map { .field($0) } ?? step)
        }
        return new
    }
}
