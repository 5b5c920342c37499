internal import BSON
import ServerSchema

/// Walks two versions of one collection's schema side by side, and notes what differs.
struct Comparison {
    let namespace: Namespace
    var changes: [SchemaChange] = []

    init(namespace: Namespace) { self.namespace = namespace }

    mutating func note(
        _ kind: Classification, at path: SchemaPath = SchemaPath(), from old: SchemaNode?, to new: SchemaNode?,
        _ description: String
    ) {
        changes.append(
            SchemaChange(
                namespace: namespace, path: path, code: kind.code, server: kind.server, client: kind.client,
                old: old?.location, new: new?.location, description: description))
    }

    /// What two schemas of the same shape hold.
    mutating func compareInside(_ old: SchemaNode, _ new: SchemaNode, at path: SchemaPath) {
        if old.holdsValues, new.holdsValues {
            compareElement(old.values, new.values, at: path.appending(.values))
        } else if old.admits(.object), new.admits(.object) {
            if old.isEmbedded, new.isEmbedded { compareTitles(old, new, at: path) }
            compareFields(old, new, at: path)
        }
        if old.admits(.array), new.admits(.array) { compareElements(old, new, at: path.appending(.elements)) }
    }

    private mutating func compareElements(_ old: SchemaNode, _ new: SchemaNode, at path: SchemaPath) {
        // Nothing said on both sides is nothing to compare, and would be compared for ever.
        guard old.items != nil || new.items != nil else { return }
        guard old.isTuple == new.isTuple, old.elements.count == new.elements.count else {
            let words = "\(path): \(old.elementWords) → \(new.elementWords)"
            return note(.elementTypeChanged, at: path, from: old, to: new, words)
        }
        for (old, new) in zip(old.elements, new.elements) { compareElement(old, new, at: path) }
    }

    private mutating func compareElement(_ old: SchemaNode, _ new: SchemaNode, at path: SchemaPath) {
        let change = Shape(old).elementChange(to: Shape(new))
        if let change { note(change, at: path, from: old, to: new, "\(path): \(words(old, new))") }
        if change == nil || change?.code == .listSetChanged { compareInside(old, new, at: path) }
    }

    /// Both types in words.
    func words(_ old: SchemaNode, _ new: SchemaNode) -> String { "\(old.expectation()) → \(new.expectation())" }
}
