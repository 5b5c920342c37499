internal import BSON
import ServerSchema

/// The fields of an object.
extension Comparison {
    /// Compares the fields of two objects: first those that go, then the others in their new order.
    mutating func compareFields(_ old: SchemaNode, _ new: SchemaNode, at path: SchemaPath) {
        let (before, after) = (old.fields, new.fields)
        let names = Set(after.map(\.name))
        for field in before where !names.contains(field.name) {
            let place = path.appending(.field(field.name))
            note(.propertyRemoved, at: place, from: field.node, to: nil, "\(place) is removed")
        }
        let known = Dictionary(before.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for field in after {
            let place = path.appending(.field(field.name))
            if let old = known[field.name] { compare(old, field, at: place) } else { add(field, at: place) }
        }
    }

    private mutating func add(_ field: Field, at path: SchemaPath) {
        let type = field.node.types.isEmpty ? "field of any type" : field.node.expectation()
        let rest = field.defaultValue == nil ? "" : ", with a default"
        if field.isRequired {
            note(.requiredAdded, at: path, from: nil, to: field.node, "\(path) is added as a required \(type)\(rest)")
        } else {
            note(.optionalAdded, at: path, from: nil, to: field.node, "\(path) is added as an optional \(type)\(rest)")
        }
    }

    private mutating func compare(_ old: Field, _ new: Field, at path: SchemaPath) {
        let (before, after) = (Shape(old.node), Shape(new.node))
        let isID = path.steps == [.field("_id")]
        let change = isID ? before.idChange(to: after) : before.change(to: after)
        if let change { note(change, at: path, from: old.node, to: new.node, "\(path): \(words(old.node, new.node))") }
        compareDuty(old, new, at: path)
        compareDefaults(old, new, at: path, isSameType: change == nil)
        if change == nil || change?.code == .listSetChanged { compareInside(old.node, new.node, at: path) }
    }

    private mutating func compareDuty(_ old: Field, _ new: Field, at path: SchemaPath) {
        guard old.isRequired != new.isRequired else { return }
        if new.isRequired {
            note(.optionalToRequired, at: path, from: old.node, to: new.node, "\(path) becomes required")
        } else {
            note(.requiredToOptional, at: path, from: old.node, to: new.node, "\(path) becomes optional")
        }
    }

    private mutating func compareDefaults(_ old: Field, _ new: Field, at path: SchemaPath, isSameType: Bool) {
        switch (old.defaultValue, new.defaultValue) {
        case (nil, _?): note(.defaultAdded, at: path, from: old.node, to: new.node, "\(path) gets a default")
        case (_?, nil): note(.defaultRemoved, at: path, from: old.node, to: new.node, "\(path) loses its default")
        case (let before?, let after?):
            // A number takes the declared type: where that changes, 0 is still the same default.
            let isSame = before.compared(to: after) == .equal && (!isSameType || before.type == after.type)
            if !isSame {
                note(.defaultChanged, at: path, from: old.node, to: new.node, "\(path) gets another default")
            }
        default: break
        }
    }
}
