import BSON
package import Checking
package import ServerSchema

/// Whether a step can make a document unsyncable under a schema, told from the schema alone.
///
/// The reasoning is about documents that sync, and about any of them: one that fails already is no new harm, and what a
/// step leaves syncing another may take as its start. Only what is certain counts, so `false` means "cannot be told", and
/// the documents themselves are asked.
package enum Harmlessness {
    /// - Parameter app: The app that the collection belongs to: what it says of partitions and links makes a key's harm
    ///   depend on more than its own schema, so that a step that writes one is never proven harmless.
    package static func holds(
        _ step: Step, under collection: CollectionSchema, of app: ServerSchema,
        assuming assumptions: CheckOptions = CheckOptions()
    ) -> Bool {
        // In MongoDB's own dialect a keyword anywhere may speak of the field; there nothing is proven.
        collection.dialect == .appServices
            && !step.kind.touched.contains { collection.holdsKey(at: $0, in: app) }
            && holds(step, under: collection.root, assuming: assumptions)
    }

    package static func holds(
        _ step: Step, under schema: SchemaNode, assuming assumptions: CheckOptions = CheckOptions()
    ) -> Bool {
        // Of elements nothing is proven.
        guard step.kind.touched.allSatisfy({ !$0.leadsIntoElements && schema.leadsThroughObjects(to: $0) }) else {
            return false
        }
        // Sync ignores a field that the schema does not declare, where its parent takes further fields.
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
    /// Whether a partition key or a link stands at a path, above it, or below it.
    fileprivate func holdsKey(at path: FieldPath, in app: ServerSchema) -> Bool {
        if case .partition(let key) = app.sync?.mode, path.components.first == key.field { return true }
        return hasLink(around: path.components)
    }
}

extension SchemaNode {
    /// Whether every parent that the schema declares is an object and nothing else: a `mixed` parent's fields are not
    /// judged as the schema states them, and a geo point's are judged together.
    func leadsThroughObjects(to path: FieldPath) -> Bool {
        var node = self
        for name in path.components.dropLast() {
            guard let child = node.property(name) else { return true }
            node = child
            guard node.types.isEmpty || node.isObject else { return false }
        }
        return !node.isGeoPoint
    }

    /// Whether a field that is not declared is not judged.
    fileprivate func takesFurtherFields(below path: FieldPath) -> Bool {
        var node = self
        var isRoot = true
        for name in path.components.dropLast() {
            // Below a field that is not declared nothing is judged; below a dictionary every value is.
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

    /// Whether a document of that one field fits, as far as the field is concerned.
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

    /// Whether the two demand the same of a value.
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
