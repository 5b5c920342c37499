internal import BSON

/// One schema of a collection: the root or a schema inside it, with the facts about surrounding schemas that lint
/// needs.
struct LintPlace {
    let namespace: Namespace
    let path: SchemaPath
    let node: SchemaNode
    /// The schema that directly contains this one; `nil` for the root.
    let holder: SchemaNode?
    /// The titles of the embedded objects that contain this schema.
    let titlesAround: [String]

    /// The name of the property that this schema describes; `nil` for the root, an array's elements or a dictionary's
    /// values.
    var propertyName: String? { if case .field(let name) = path.steps.last { name } else { nil } }

    /// Whether this schema describes a property that documents must have.
    var isRequired: Bool { propertyName.map { holder?.requires($0) ?? false } ?? false }

    /// Whether this schema describes the elements of an array, or the values of a dictionary.
    var isHeld: Bool { holder != nil && propertyName == nil }

    /// Whether this schema describes an array or a dictionary.
    var isCollection: Bool { node.types == [.array] || node.isDictionary }

    /// Whether this schema describes an embedded object, and allows no other type.
    var isEmbedded: Bool { holder != nil && node.isEmbedded }

    /// Returns a finding about this schema.
    /// - Parameter location: the position that the finding states; `nil` for the beginning of the schema.
    func finding(
        _ code: LintFinding.Code, _ level: LintFinding.Level, _ message: String, remedy: String? = nil,
        at location: SourceLocation? = nil
    ) -> LintFinding {
        LintFinding(
            code, level, namespace: namespace, path: path, at: location ?? node.location, message, remedy: remedy)
    }

    /// Returns the root schema of a collection, followed by the schemas nested in it.
    ///
    /// Schemas in `patternProperties`, `dependencies`, `additionalItems` and combinations such as `allOf` are not
    /// included.
    static func all(of collection: CollectionSchema) -> [LintPlace] {
        var places: [LintPlace] = []
        let root = LintPlace(
            namespace: collection.namespace, path: SchemaPath(), node: collection.root, holder: nil, titlesAround: [])
        root.walk(into: &places)
        return places
    }

    private func walk(into places: inout [LintPlace]) {
        places.append(self)
        for property in node.properties { inside(property.node, .field(property.name)).walk(into: &places) }
        switch node.items {
        case .each(let element): inside(element, .elements).walk(into: &places)
        case .tuple(let elements): for element in elements { inside(element, .elements).walk(into: &places) }
        case nil: break
        }
        if case .schema(let value) = node.additionalProperties { inside(value, .values).walk(into: &places) }
    }

    private func inside(_ child: SchemaNode, _ step: SchemaPath.Step) -> LintPlace {
        let own = isEmbedded ? node.title : nil
        return LintPlace(
            namespace: namespace, path: path.appending(step), node: child, holder: node,
            titlesAround: titlesAround + (own.map { [$0] } ?? []))
    }
}
