import ServerSchema

/// Chooses the types for the paths of a `$jsonSchema`, which can declare several types for one path.
extension SchemaFitter {
    mutating func fitForServer(_ node: Int, _ place: Place, level: Int) {
        let counts = tree.nodes[node].serverTypes
        // A field that was always null is left out, because the type that it is meant for is unknown.
        guard let main = counts.first(where: { $0.type != .null })?.type else { return }
        decide(node, Plan(types: counts.map(\.type)))
        for (type, count) in counts {
            open(node, as: type, level: level)
            if type != main { offer(count, .drop(node: node, type)) }
        }
        offerRequirement(of: node, place)
    }
}

extension PathNode {
    /// The types of the values at a path, by the names that mongod has for types, the most common first; types with the
    /// same count are sorted by name.
    var serverTypes: [(type: SchemaType, count: Int)] { types(by: \.serverType) }

    func types(by name: KeyPath<ValueKind, SchemaType>) -> [(type: SchemaType, count: Int)] {
        var counts: [SchemaType: Int] = [:]
        for (kind, count) in kinds { counts[kind[keyPath: name], default: 0] += count }
        return counts.map { (type: $0.key, count: $0.value) }.sorted { left, right in
            left.count != right.count ? left.count > right.count : left.type.rawValue < right.type.rawValue
        }
    }
}

extension SchemaFitter {
    /// Whether a schema can describe a field with this name.
    ///
    /// mongod reads a dotted name as a path, and mongod 6.0 aborts on an empty name. App Services can address neither a
    /// dotted name, nor an empty one, nor one with more than 63 characters: `semantics.md` sections 3.5 and 4. Names
    /// that begin with `$` or are not UTF-8 are left out in every dialect.
    func isDescribable(_ name: ArraySlice<UInt8>) -> Bool {
        guard let first = name.first, first != UInt8(ascii: "$"), !name.contains(UInt8(ascii: ".")),
            let text = String(validating: name, as: UTF8.self)
        else { return false }
        return !isAppServices || text.unicodeScalars.count <= 63
    }

    /// Adds a pending step that makes a field required, if the field's position and the dialect allow it.
    mutating func offerRequirement(of node: Int, _ place: Place) {
        guard place == .field || place == .id, let parent = parents[node] else { return }
        let missing = max(0, tree.nodes[parent].count(of: .object) - tree.nodes[node].presence)
        if place == .id { return offer(isAppServices ? 0 : missing, .require(node: node)) }
        guard isAppServices else { return offer(missing, .require(node: node)) }
        // An App Services schema never requires a field whose type is an object, an array or `mixed`, because clients
        // cannot guarantee that an embedded object is present, and do not write empty collections.
        guard let type = plans[node]?.types.first, ![.object, .array, .mixed].contains(type) else { return }
        offer(missing + tree.nodes[node].count(of: .null), .require(node: node))
    }
}
