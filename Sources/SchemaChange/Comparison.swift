internal import BSON
import ServerSchema

/// Walks two versions of one collection's schema side by side, and notes what differs.
struct Comparison {
    let old: CollectionSchema?
    let new: CollectionSchema?
    let map: RenameMap
    var changes: [SchemaChange] = []

    init(from old: CollectionSchema?, to new: CollectionSchema?, renames map: RenameMap) {
        (self.old, self.new, self.map) = (old, new, map)
    }

    /// Whether both are validators, to which titles say nothing.
    var isOfValidators: Bool { [old, new].allSatisfy { $0?.dialect ?? .jsonSchema == .jsonSchema } }

    /// A place in both versions, which renames may call differently.
    struct Spot {
        var old = SchemaPath()
        var new = SchemaPath()

        func appending(_ step: SchemaPath.Step) -> Spot { appending(step, step) }
        func appending(_ old: SchemaPath.Step, _ new: SchemaPath.Step) -> Spot {
            Spot(old: self.old.appending(old), new: self.new.appending(new))
        }
    }

    mutating func note(
        _ kind: ChangeKind, at spot: Spot = Spot(), from old: SchemaNode?, to new: SchemaNode?, _ description: String
    ) {
        note(
            kind, at: spot, from: old.map { Field(name: "", node: $0, isRequired: false) },
            to: new.map { Field(name: "", node: $0, isRequired: false) }, description)
    }

    mutating func note(
        _ kind: ChangeKind, at spot: Spot, from old: Field?, to new: Field?, losing holder: SchemaNode? = nil,
        _ description: String
    ) {
        let before = old.map { side($0, of: self.old, at: spot.old) }
        let after = new.map { side($0, of: self.new, at: spot.new) }
        var change =
            SchemaChange(
                kind: kind, namespace: (self.new ?? self.old)?.namespace, path: new == nil ? spot.old : spot.new,
                oldNamespace: (self.old ?? self.new)?.namespace, oldPath: spot.old, old: before, new: after,
                place: holder?.location, description: description)
        change.newHolder = holder
        changes.append(change)
    }

    private func side(_ field: Field, of collection: CollectionSchema?, at path: SchemaPath) -> SchemaChange.Side {
        SchemaChange.Side(
            namespace: collection?.namespace, path: path, node: field.node, isRequired: field.isRequired,
            link: collection?.linkWithin(path), location: field.node.location)
    }

    /// What two schemas of the same shape hold.
    mutating func compareInside(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        if old.holdsValues, new.holdsValues {
            compareElement(old.values, new.values, at: spot.appending(.values))
        } else if old.admits(.object), new.admits(.object) {
            if old.isEmbedded, new.isEmbedded, !isOfValidators { compareTitles(old, new, at: spot) }
            compareFields(old, new, at: spot)
            compareAdditionalProperties(old, new, at: spot)
        }
        if old.admits(.array), new.admits(.array) { compareElements(old, new, at: spot.appending(.elements)) }
    }

    private mutating func compareElements(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        // Nothing said on both sides is nothing to compare, and would be compared for ever.
        guard old.items != nil || new.items != nil else { return }
        guard old.isTuple == new.isTuple, old.elements.count == new.elements.count else {
            let words = "\(spot.new): \(old.elementWords) → \(new.elementWords)"
            return note(.elementTypeChanged, at: spot, from: old, to: new, words)
        }
        for (old, new) in zip(old.elements, new.elements) { compareElement(old, new, at: spot) }
    }

    private mutating func compareElement(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        let change = elementChange(old, new, at: spot)
        if let change { note(change, at: spot, from: old, to: new, "\(spot.new): \(words(old, new))") }
        if change?.code != .embeddingChanged { compareLinks(old, new, at: spot) }
        if change == nil { compareConstraints(old, new, at: spot) }
        if change == nil || change?.code == .listSetChanged { compareInside(old, new, at: spot) }
    }

    private func elementChange(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) -> ChangeKind? {
        let change = Shape(old).elementChange(to: Shape(new))
        if change?.code == .elementTypeChanged, isEmbedding(old, new, at: spot) { return .embeddingChanged }
        return change
    }

    /// Both types in words.
    func words(_ old: SchemaNode, _ new: SchemaNode) -> String { "\(old.expectation()) → \(new.expectation())" }
}
