import ServerSchema

extension SchemaDiff {
    /// Returns a change for each property or type that the newer schema lacks, although the older one promises it to
    /// clients until today or a later day (`@deprecated DAY`).
    /// - Parameters:
    ///   - changes: the changes between the two schemas.
    ///   - today: the day in UTC, as `YYYY-MM-DD`.
    public static func earlyRemovals(in changes: [SchemaChange], today: String) -> [SchemaChange] {
        changes.flatMap { change -> [SchemaChange] in
            guard removals.contains(change.code), let old = change.old, let node = old.node else { return [] }
            return node.promises(at: old.path).filter { $0.day >= today }.map { promise in
                let side = SchemaChange.Side(
                    namespace: old.namespace, path: promise.path, node: promise.node, isRequired: old.isRequired,
                    link: old.link, location: promise.node.location)
                let name = promise.path.isRoot ? "the type" : "\(promise.path)"
                return SchemaChange(
                    kind: .removedBeforeDay, namespace: change.namespace, path: promise.path,
                    oldNamespace: change.oldNamespace, oldPath: promise.path, old: side, new: nil,
                    place: change.place,
                    description: "\(name) is removed, but clients may use it until \(promise.day)")
            }
        }
    }

    private static let removals: Set<SchemaChange.Code> = [
        .propertyRemoved, .propertyRenamed, .typeRemoved, .idRemoved,
    ]
}

extension SchemaNode {
    /// Returns the parts of the schema that have the annotation `@deprecated DAY`.
    ///
    /// The annotation promises a part to clients until that day. A part is the schema itself, or a property, element or
    /// value inside it.
    fileprivate func promises(at path: SchemaPath) -> [(path: SchemaPath, day: String, node: SchemaNode)] {
        var promises = deprecation?.day.map { [(path: path, day: $0, node: self)] } ?? []
        for property in properties {
            promises += property.node.promises(at: path.appending(.field(property.name)))
        }
        if case .each(let element)? = items { promises += element.promises(at: path.appending(.elements)) }
        if case .schema(let value) = additionalProperties { promises += value.promises(at: path.appending(.values)) }
        return promises
    }
}
