internal import BSON
import ServerSchema

/// What is demanded beside types and fields.
extension Comparison {
    /// Notes which constraints of a value let in less, and which let in more.
    mutating func compareConstraints(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        let change = ConstraintChange(from: old, to: new)
        let subject = spot.new.isRoot ? "the document" : "\(spot.new)"
        if !change.tightened.isEmpty {
            note(
                .constraintTightened, at: spot, from: old, to: new,
                "\(subject): \(change.tightened.joined(separator: ", ")) restricted")
        }
        if !change.loosened.isEmpty {
            note(
                .constraintLoosened, at: spot, from: old, to: new,
                "\(subject): \(change.loosened.joined(separator: ", ")) relaxed")
        }
    }

    /// Compares what fields beside the declared ones two objects may have.
    mutating func compareAdditionalProperties(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        let (before, after) = (old.furtherFields, new.furtherFields)
        guard before != after else { return }
        let subject = spot.new.isRoot ? "the document" : "\(spot.new)"
        note(
            .additionalPropertiesChanged, at: spot, from: old, to: new,
            "\(subject): \(after.words) instead of \(before.words)")
    }
}

/// What fields beside the declared ones an object may have.
enum FurtherFields: Hashable {
    case any, none
    case only(BSONDocument)

    fileprivate var words: String {
        switch self {
        case .any: "any further fields"
        case .none: "no further fields"
        case .only: "further fields of one schema"
        }
    }
}

extension SchemaNode {
    var furtherFields: FurtherFields {
        switch additionalProperties {
        case .allowed: .any
        case .forbidden: .none
        case .schema(let node): .only(node.jsonSchema)
        }
    }
}
