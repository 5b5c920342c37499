import BSON
package import Checking
package import ServerSchema

/// Proves, from the schema alone, that a step makes no document unsyncable.
///
/// The proof covers every document that syncs; documents that already fail are not considered. Each step can be proven
/// by itself, because every proven step before it leaves the document syncing. If there is no proof, the documents
/// themselves are checked.
package enum StepSafety {
    /// Whether it is proven that every syncing document of a collection still syncs after the step.
    /// - Parameter app: The app that the collection belongs to. The effect of a partition key or a link depends on more
    ///   than the collection's own schema, so a step that writes a partition key or a link is never proven to be safe.
    package static func holds(
        _ step: Step, under collection: CollectionSchema, of app: ServerSchema,
        assuming assumptions: CheckOptions = CheckOptions()
    ) -> Bool {
        // Nothing is proven under a schema of another dialect than App Services. In MongoDB's own dialect, for example,
        // a keyword anywhere in the schema might constrain the field that the step writes.
        collection.dialect == .appServices
            && !step.kind.touched.contains { collection.holdsKey(at: $0, in: app) }
            && holds(step, under: collection.root, assuming: assumptions)
    }

    /// Whether it is proven that every syncing document still syncs after the step.
    ///
    /// The caller must have checked that the step writes no partition key and no link.
    package static func holds(
        _ step: Step, under schema: SchemaNode, assuming assumptions: CheckOptions = CheckOptions()
    ) -> Bool {
        // For elements of lists and dictionaries, and for fields that are not reached through objects alone, nothing is
        // proven.
        guard step.kind.touched.allSatisfy({ !$0.leadsIntoElements && schema.leadsThroughObjects(to: $0) }) else {
            return false
        }
        // If the parent allows additional fields, sync ignores a field that the schema does not declare.
        let declared = step.kind.touched.filter { schema.property(at: $0) != nil }
        guard step.kind.touched.allSatisfy({ declared.contains($0) || schema.takesFurtherFields(below: $0) }) else {
            return false
        }
        guard let first = declared.first else { return true }
        guard first == step.target, let node = schema.property(at: first) else { return false }
        return step.kind.leavesSyncing(under: schema, declaring: node, assuming: assumptions)
    }
}

extension CollectionSchema {
    /// Whether the field at the path is a partition key or a link, contains one, or lies inside one.
    fileprivate func holdsKey(at path: FieldPath, in app: ServerSchema) -> Bool {
        if case .partition(let key) = app.sync?.mode, path.components.first == key.field { return true }
        return hasLink(around: path.components)
    }
}

extension SchemaNode {
    /// Whether the path leads only through objects, as far as the schema declares the parents.
    ///
    /// A declared parent must be an object or have no stated type: the schema does not govern the fields inside a
    /// `mixed` parent. If all parents are declared, the innermost one must not be a geo point, because a geo point is
    /// checked as a whole, and not field by field.
    func leadsThroughObjects(to path: FieldPath) -> Bool {
        var node = self
        for name in path.components.dropLast() {
            guard let child = node.property(name) else { return true }
            node = child
            guard node.types.isEmpty || node.isObject else { return false }
        }
        return !node.isGeoPoint
    }

    /// Whether the schema accepts every value in an undeclared field at the path.
    fileprivate func takesFurtherFields(below path: FieldPath) -> Bool {
        var node = self
        var isRoot = true
        for name in path.components.dropLast() {
            // The path is followed only to the first undeclared field, because the schema checks nothing below that
            // field. A dictionary is different: the schema checks each of its values.
            guard let child = node.property(name) else { break }
            node = child
            isRoot = false
        }
        return if case .allowed = node.additionalProperties { isRoot || !node.isDictionary } else { false }
    }

    func requires(_ path: FieldPath) -> Bool {
        let parent = if let parent = path.parents.last { property(at: parent) } else { self }
        guard let parent, let name = path.components.last else { return false }
        return parent.requires(name)
    }

    /// Whether the schema of the field at the path accepts the value; the other fields of a document do not matter.
    func fits(_ value: BSONValue, at path: FieldPath, assuming assumptions: CheckOptions) -> Bool {
        guard let node = property(at: path), let name = path.components.last else { return false }
        var parent = SchemaNode(location: location)
        parent.types = [.object]
        parent.hasProperties = true
        parent.properties = [Property(name: name, node: node)]
        parent.required = requires(path) ? [name] : []
        var root = parent
        var document: BSONDocument = [name: value]
        if !path.parents.isEmpty {
            root.properties = [Property(name: "parent", node: parent)]
            root.required = []
            document = ["parent": .object(document)]
        }
        let namespace = Namespace(database: "none", collection: "none")
        let schema = CompiledSchema(CollectionSchema(namespace: namespace, root: root), options: assumptions)
        return (try? schema.check(document.view) != .certain) ?? false
    }

    /// Whether this schema and `other` have the same rules for a value, apart from constraints such as `minimum`.
    func demandsTheSame(as other: SchemaNode) -> Bool {
        guard Set(types) == Set(other.types), uniqueItems == other.uniqueItems,
            hasProperties == other.hasProperties, hasAdditionalProperties == other.hasAdditionalProperties,
            Set(required) == Set(other.required), unevaluated.isEmpty, other.unevaluated.isEmpty,
            properties.count == other.properties.count
        else { return false }
        let areSame = properties.allSatisfy { property in
            other.property(property.name).map { $0.demandsTheSame(as: property.node) } ?? false
        }
        return areSame && items.demandTheSame(as: other.items)
            && additionalProperties.demandTheSame(as: other.additionalProperties)
    }

    var hasScalarsAlone: Bool { !types.isEmpty && types.allSatisfy(\.isScalar) }
}

extension SchemaNode.Items? {
    fileprivate func demandTheSame(as other: Self) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (.each(let one), .each(let two)): one.demandsTheSame(as: two)
        case (.tuple(let one), .tuple(let two)):
            one.count == two.count && zip(one, two).allSatisfy { $0.demandsTheSame(as: $1) }
        default: false
        }
    }
}

extension SchemaNode.AdditionalProperties {
    fileprivate func demandTheSame(as other: Self) -> Bool {
        switch (self, other) {
        case (.allowed, .allowed), (.forbidden, .forbidden): true
        case (.schema(let one), .schema(let two)): one.demandsTheSame(as: two)
        default: false
        }
    }
}

extension SchemaType {
    fileprivate var isScalar: Bool {
        switch self {
        case .object, .array, .mixed, .number: false
        default: true
        }
    }

    var isNumeric: Bool {
        switch self {
        case .int, .long, .double, .decimal: true
        default: false
        }
    }
}
