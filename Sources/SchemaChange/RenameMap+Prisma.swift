import BSON
import ServerSchema

/// The renames that follow from `@map` and `@@map` in two Prisma schemas.
///
/// Programs use the name that a model or a field has in the schema. `@@map` states the name of a model's collection on
/// the server, and `@map` states the name of a field in the documents. If only the name on the server changes, the
/// collection or the field was renamed.
extension RenameMap {
    /// Adds the collections and fields whose names on the server changed while their names in programs stayed the same.
    ///
    /// Renames that the operator states are kept.
    mutating func addMappings(from old: ServerSchema, to new: ServerSchema) {
        let models = Dictionary(new.collections.map { ($0.root.title, $0) }) { first, _ in first }
        for before in old.collections {
            guard let after = models[before.root.title] else { continue }
            if before.namespace != after.namespace, collections[before.namespace] == nil,
                old[after.namespace] == nil, new[before.namespace] == nil
            {
                collections[before.namespace] = after.namespace
            }
        }
        for before in old.collections {
            guard let after = new[newName(of: before.namespace)] else { continue }
            addMappings(from: before, to: after)
        }
    }

    /// Adds the fields of one collection whose names in the documents changed while their names in programs stayed the
    /// same.
    ///
    /// Renames that the operator states are kept.
    mutating func addMappings(from old: CollectionSchema, to new: CollectionSchema) {
        addFields(of: old.root, in: new.root, at: SchemaPath(), of: old.namespace)
    }

    private mutating func addFields(
        of old: SchemaNode, in new: SchemaNode, at path: SchemaPath, of namespace: Namespace
    ) {
        let fields = Dictionary(new.properties.map { ($0.programName, $0) }) { first, _ in first }
        for before in old.properties {
            let place = path.appending(.field(before.name))
            let stated = properties[namespace]?[place]
            guard
                let after = stated.map({ name in new.properties.first { $0.name == name } })
                    ?? fields[before.programName]
            else { continue }
            let isMoved = old.property(after.name) == nil && new.property(before.name) == nil
            if stated == nil, before.name != after.name, isMoved {
                properties[namespace, default: [:]][place] = after.name
            }
            let isList = before.node.isList && after.node.isList
            addFields(
                of: isList ? before.node.each : before.node, in: isList ? after.node.each : after.node,
                at: isList ? place.appending(.elements) : place, of: namespace)
        }
    }
}

extension SchemaNode.Property {
    fileprivate var programName: String { clientName ?? name }
}
