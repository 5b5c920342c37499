/// Which client concept a schema describes: `semantics.md` section 3.3 of the project's reference.
extension SchemaNode {
    /// Whether the value may be an object and nothing else.
    public var isObject: Bool { types == [.object] }

    /// Whether the schema describes a dictionary: an object of any names whose values follow one schema.
    ///
    /// It names no property, and has an `additionalProperties` that is not false.
    public var isDictionary: Bool {
        guard isObject, properties.isEmpty, hasAdditionalProperties else { return false }
        if case .forbidden = additionalProperties { return false }
        return true
    }

    /// Whether the schema describes an embedded object.
    public var isEmbedded: Bool { isObject && !isDictionary }

    /// Whether the schema describes a set: an array whose elements differ.
    public var isSet: Bool { types == [.array] && uniqueItems }

    /// Whether the schema describes a list.
    public var isList: Bool { types == [.array] && !uniqueItems }

    /// The schema of a dictionary's values; `nil` when they may be anything, or this is no dictionary.
    public var dictionaryValue: SchemaNode? {
        guard isDictionary, case .schema(let node) = additionalProperties else { return nil }
        return node
    }
}

extension SchemaNode {
    /// The schema at a path of field names, from here on; `nil` when nothing describes it.
    ///
    /// `[]` or a number leads into an array's elements, `{}` or any name into a dictionary's values.
    public func node(at path: some Collection<String>) -> SchemaNode? {
        guard let first = path.first else { return self }
        return child(first)?.node(at: path.dropFirst())
    }

    private func child(_ step: String) -> SchemaNode? {
        if let node = property(step) { return node }
        switch items {
        case .each(let node) where step == "[]" || Int(step) != nil: return node
        case .tuple(let nodes): return Int(step).flatMap { nodes.indices.contains($0) ? nodes[$0] : nil }
        default: return dictionaryValue
        }
    }
}
