internal import BSON
import ServerSchema

/// Object types, which clients know by their titles.
extension Comparison {
    /// Compares two versions of what a collection's documents must be.
    mutating func compareRoots(_ old: SchemaNode, _ new: SchemaNode) {
        switch isOfValidators ? (nil, nil) : (old.typeName, new.typeName) {
        // Without a title the collection has no type that clients know.
        case (nil, _?): add(type: new, insteadOf: old)
        case (_?, nil): remove(type: old, leaving: new)
        case (let before?, let after?) where before != after:
            note(.typeRenamed, from: old, to: new, "type \(before) is renamed to \(after)")
        default: break
        }
        compareFields(old, new, at: Spot())
        compareAdditionalProperties(old, new, at: Spot())
        compareConstraints(old, new, at: Spot())
    }

    /// Notes that clients learn of a type; `old` is the schema that had no title.
    mutating func add(type new: SchemaNode, insteadOf old: SchemaNode? = nil) {
        note(.typeAdded, from: old, to: new, "\(name(of: new)) is added")
    }

    /// Notes that a type goes; `new` is the schema that has no title any more.
    mutating func remove(type old: SchemaNode, leaving new: SchemaNode? = nil) {
        note(.typeRemoved, from: old, to: new, "\(name(of: old)) is removed")
    }

    /// Compares the titles of an embedded object; one without a title has a generated name.
    mutating func compareTitles(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        guard old.typeName != new.typeName else { return }
        let summary =
            switch (old.typeName, new.typeName) {
            case (let before?, let after?): "type \(before) is renamed to \(after)"
            case (let before?, nil): "type \(before) loses its title"
            case (nil, let after): "the type without a title is named \(after ?? "")"
            }
        note(.embeddedTypeRenamed, at: spot, from: old, to: new, "\(spot.new): \(summary)")
    }

    private func name(of root: SchemaNode) -> String {
        root.typeName.map { "type \($0)" } ?? (new ?? old).map { "the type of \($0.namespace)" } ?? "a type"
    }
}
