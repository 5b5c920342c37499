internal import BSON

/// One schema inside a collection's schema, with what lint needs to know of its surroundings.
struct LintPlace {
    let namespace: Namespace
    let path: SchemaPath
    let node: SchemaNode
    /// The schema that contains this one; `nil` at the root.
    let holder: SchemaNode?
    /// The titles of the embedded objects around it.
    let titlesAround: [String]

    /// The name of the property; `nil` for the root, an element or a value.
    var propertyName: String? { if case .field(let name) = path.steps.last { name } else { nil } }

    /// Whether documents must have the property.
    var isRequired: Bool { propertyName.map { holder?.requires($0) ?? false } ?? false }

    /// Whether this describes the elements or values of a list, a set or a dictionary.
    var isHeld: Bool { holder != nil && propertyName == nil }

    /// Whether this is an array or a dictionary.
    var isCollection: Bool { node.types == [.array] || node.isDictionary }

    /// Whether this is an embedded object, and can be of no other type.
    var isEmbedded: Bool { holder != nil && node.isEmbedded }

    /// Returns a finding about this place.
    func finding(
        _ code: LintFinding.Code, _ level: LintFinding.Level, _ message: String, remedy: String? = nil,
        at location: SourceLocation? = nil
    ) -> LintFinding {
        LintFinding(
            code, level, namespace: namespace, path: path, at: location ?? node.location, message, remedy: remedy)
    }

    /// Returns every schema of a collection, the root first.
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

extension SchemaNode {
    /// Returns the schema at a place; `nil` when nothing describes it.
    package func node(at path: SchemaPath) -> SchemaNode? {
        node(
            at: path.steps.map { step in
                switch step {
                case .field(let name): name
                case .elements: "[]"
                case .values: "{}"
                }
            })
    }
}
