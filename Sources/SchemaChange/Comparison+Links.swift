internal import BSON
import ServerSchema

/// Links between collections.
extension Comparison {
    /// Whether an embedded object becomes a link, or a link an embedded object.
    func isEmbedding(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) -> Bool {
        let (before, after) = (self.old?.link(at: spot.old), self.new?.link(at: spot.new))
        return old.isEmbedded && before == nil && after != nil && !new.isEmbedded
            || new.isEmbedded && after == nil && before != nil && !old.isEmbedded
    }

    /// Compares where two versions of a field, an element or a value lead to.
    mutating func compareLinks(_ old: SchemaNode, _ new: SchemaNode, at spot: Spot) {
        compareLinks(
            Field(name: "", node: old, isRequired: false), Field(name: "", node: new, isRequired: false), at: spot)
    }

    /// Compares where two versions of a field lead to.
    /// - Parameter inside: whether the elements or values of one side count as the field itself, where one value has
    ///   become many, or many one.
    mutating func compareLinks(_ old: Field, _ new: Field, at spot: Spot, inside: Bool = false) {
        let before = inside ? self.old?.linkWithin(spot.old) : self.old?.link(at: spot.old)
        let after = inside ? self.new?.linkWithin(spot.new) : self.new?.link(at: spot.new)
        switch (before, after) {
        case (nil, let link?):
            note(.linkAdded, at: spot, from: old, to: new, "\(spot.new) becomes a link to \(link.target)")
        case (let link?, nil):
            note(.linkRemoved, at: spot, from: old, to: new, "\(spot.new) is no link to \(link.target) any more")
        case (let before?, let after?) where !isSame(before, after):
            note(
                .linkRetargeted, at: spot, from: old, to: new,
                "\(spot.new) links to \(words(after)) instead of \(words(before))")
        default: break
        }
    }

    /// A link to a collection that was moved still leads to the same type.
    private func isSame(_ old: Relationship, _ new: Relationship) -> Bool {
        map.newName(of: old.target) == new.target
            && (old.foreignKey == new.foreignKey
                || map.newName(of: SchemaPath([.field(old.foreignKey)]), in: old.target) == new.foreignKey)
    }

    private func words(_ link: Relationship) -> String {
        link.foreignKey == "_id" ? "\(link.target)" : "\(link.target) by \(link.foreignKey)"
    }
}

extension CollectionSchema {
    /// The link that starts from a place: from a field, or from the elements or values of one.
    func link(at path: SchemaPath) -> Relationship? {
        if let link = link(from: path), keyPath(of: link) == path { return link }
        guard let last = path.steps.last, last == .elements || last == .values else { return nil }
        return link(from: SchemaPath(path.steps.dropLast())).flatMap { keyPath(of: $0) == path ? $0 : nil }
    }

    /// The link that starts from a place or from the elements or values there.
    func linkWithin(_ path: SchemaPath) -> Relationship? {
        link(at: path) ?? link(at: path.appending(.elements)) ?? link(at: path.appending(.values))
    }

    /// Where a link's keys stand: of a collection of keys most exports name the field alone.
    func keyPath(of link: Relationship) -> SchemaPath {
        guard link.isList, let node = root.node(at: link.source) else { return link.source }
        if node.isList || node.isSet { return link.source.appending(.elements) }
        return node.isDictionary ? link.source.appending(.values) : link.source
    }
}
