internal import BSON
import ServerSchema

/// The fields of an object.
extension Comparison {
    /// Compares the fields of two objects: first those that go, then the others in their new order.
    mutating func compareFields(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        let (before, after) = (old.fields, new.fields)
        let names = Set(after.map(\.name))
        var known: [String: (field: Field, spot: Spot)] = [:]
        for field in before {
            let name = newName(of: field, at: spot)
            let place = spot.appending(.field(field.name), .field(name))
            if names.contains(name) {
                known[name] = (field, place)
            } else {
                let kind: ChangeKind =
                    place.old.isID ? .idRemoved : field.isRequired ? .requiredRemoved : .optionalRemoved
                note(kind, at: place, from: field, to: nil, losing: new, "\(place.old) is removed")
            }
        }
        for field in after {
            if let (old, place) = known[field.name] {
                compare(old, field, at: place)
            } else {
                add(field, at: spot.appending(.field(field.name)))
            }
        }
    }

    private func newName(of field: Field, at spot: Spot) -> String {
        guard let namespace = old?.namespace else { return field.name }
        return map.newName(of: spot.old.appending(.field(field.name)), in: namespace) ?? field.name
    }

    private mutating func add(_ field: Field, at spot: Spot) {
        let type = field.node.types.isEmpty ? "field of any type" : field.node.expectation()
        let rest = field.defaultValue == nil ? "" : ", with a default"
        let kind = field.isRequired ? ChangeKind.requiredAdded : .optionalAdded
        let duty = field.isRequired ? "a required" : "an optional"
        note(kind, at: spot, from: nil, to: field, "\(spot.new) is added as \(duty) \(type)\(rest)")
    }

    private mutating func compare(_ old: Field, _ new: Field, at spot: Spot) {
        if old.name != new.name {
            note(.propertyRenamed, at: spot, from: old, to: new, "\(spot.old) is renamed to \(new.name)")
        }
        let change = change(old, new, at: spot)
        if let change { note(change, at: spot, from: old, to: new, "\(spot.new): \(words(old.node, new.node))") }
        if change?.code != .embeddingChanged {
            compareLinks(old, new, at: spot, inside: change?.code == .cardinalityChanged)
        }
        compareDuty(old, new, at: spot)
        compareDefaults(old, new, at: spot, isSameType: change == nil)
        if change == nil { compareConstraints(old.node, new.node, at: spot) }
        if change == nil || change?.code == .listSetChanged { compareInside(old.node, new.node, at: spot) }
    }

    private func change(_ old: Field, _ new: Field, at spot: Spot) -> ChangeKind? {
        let (before, after) = (Shape(old.node), Shape(new.node))
        if spot.old.isID { return before.idChange(to: after) }
        let change = before.change(to: after)
        return change != nil && isEmbedding(old.node, new.node, at: spot) ? .embeddingChanged : change
    }

    private mutating func compareDuty(_ old: Field, _ new: Field, at spot: Spot) {
        guard old.isRequired != new.isRequired else { return }
        if new.isRequired {
            note(.optionalToRequired, at: spot, from: old, to: new, "\(spot.new) becomes required")
        } else {
            note(.requiredToOptional, at: spot, from: old, to: new, "\(spot.new) becomes optional")
        }
    }

    private mutating func compareDefaults(_ old: Field, _ new: Field, at spot: Spot, isSameType: Bool) {
        switch (old.defaultValue, new.defaultValue) {
        case (nil, _?): note(.defaultAdded, at: spot, from: old, to: new, "\(spot.new) gets a default")
        case (_?, nil): note(.defaultRemoved, at: spot, from: old, to: new, "\(spot.new) loses its default")
        case (let before?, let after?):
            // A number takes the declared type: where that changes, 0 is still the same default.
            let isSame = before.compared(to: after) == .equal && (!isSameType || before.type == after.type)
            if !isSame {
                note(.defaultChanged, at: spot, from: old, to: new, "\(spot.new) gets another default")
            }
        default: break
        }
    }
}

extension SchemaPath {
    /// Whether it is the primary key.
    fileprivate var isID: Bool { steps == [.field("_id")] }
}
