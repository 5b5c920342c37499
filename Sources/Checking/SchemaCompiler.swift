import BSON
import ServerSchema

/// Flattens a schema's tree into the arrays of a ``CompiledSchema``.
struct SchemaCompiler {
    var nodes: [CompiledSchema.Node] = []
    var fields: [CompiledSchema.Field] = []
    var table = FieldTable()
    var paths: [SchemaPath] = []
    var expectations: [String] = []
    private(set) var unevaluated: [CompiledSchema.UnevaluatedKeyword] = []
    var defaults: [(field: Int, value: BSONValue)] = []
    var references: [CompiledSchema.Reference] = []
    var links: [CompiledSchema.Link] = []
    /// The fields of the Prisma types that were compiled, by the names of the types; the values of enums too.
    var shared: [String: CompiledSchema.Node] = [:]
    let context: SchemaContext

    init(_ context: SchemaContext) { self.context = context }

    mutating func compile(root: SchemaNode) {
        let index = reserve(1, path: SchemaPath())
        compile(root, at: index, place: .root, flags: [])
    }

    /// Appends `count` nodes next to each other, and returns the index of the first one.
    mutating func reserve(_ count: Int, path: SchemaPath) -> Int {
        let first = nodes.count
        for _ in 0..<count {
            nodes.append(CompiledSchema.Node())
            paths.append(path)
            expectations.append("any value")
        }
        return first
    }

    mutating func compile(
        _ schema: SchemaNode, at index: Int, place: CompiledSchema.Place, flags inherited: CompiledSchema.Flags
    ) {
        var node = CompiledSchema.Node()
        node.place = place
        node.flags = inherited
        note(schema.unevaluated, at: paths[index])
        compileTypes(schema, into: &node)
        if node.accepts.contains(.array) { compileElements(schema, of: index, into: &node) }
        if node.accepts.contains(.object) { compileObject(schema, of: index, into: &node) }
        node.plain = plainTypes(of: node)
        nodes[index] = node
        expectations[index] = schema.expectation(asRoot: place == .root)
    }

    private mutating func note(_ keywords: [(keyword: String, location: SourceLocation)], at path: SchemaPath) {
        for (keyword, location) in keywords {
            unevaluated.append(.init(path: path, keyword: keyword, location: location))
        }
    }

    private func compileTypes(_ schema: SchemaNode, into node: inout CompiledSchema.Node) {
        if node.place == .root {
            node.accepts = .object
        } else if !schema.types.isEmpty {
            node.accepts = TypeMask(schema.types.map { TypeMask($0) })
            if schema.types.contains(.mixed) { node.flags.insert(.mixed) }
            if schema.types.contains(.uuid) { node.flags.insert(.uuid) }
            if schema.types.contains(.binData) { node.flags.insert(.binary) }
            if schema.types.contains(.null) { node.flags.insert(.nullable) }
        } else {
            node.flags.insert(.nullable)
        }
    }

    /// Returns the types whose values fit the node without a further check.
    func plainTypes(of node: CompiledSchema.Node) -> TypeMask {
        var plain = node.accepts.subtracting([.null])
        if node.flags.contains(.uuid) || node.flags.contains(.binary) { plain.remove(.binData) }
        if node.items >= 0 || node.flags.contains(.set) { plain.remove(.array) }
        if node.place == .root || node.fields.count > 0 || node.additional >= 0 || node.flags.contains(.closed) {
            plain.remove(.object)
        }
        if node.flags.contains(.mixed) { plain.formUnion(.mixedScalars) }
        let nullFits = node.flags.contains(.nullable) || node.flags.contains(.mixed)
        if nullFits, node.flags.isDisjoint(with: [.required, .partition]), node.place != .id { plain.insert(.null) }
        return plain
    }
}

// MARK: arrays and objects

extension SchemaCompiler {
    private mutating func compileElements(_ schema: SchemaNode, of index: Int, into node: inout CompiledSchema.Node) {
        if schema.uniqueItems { node.flags.insert(.set) }
        let path = paths[index].appending(.elements)
        let below = node.flags.intersection(.inTuple).union(.embedded)
        switch schema.items {
        case nil: break
        case .each(let element):
            let child = reserve(1, path: path)
            node.items = Int32(child)
            compile(element, at: child, place: .element, flags: below)
        case .tuple(let elements) where elements.isEmpty: break
        case .tuple(let elements):
            let first = reserve(elements.count, path: path)
            node.items = Int32(first)
            node.tupleCount = Int32(elements.count)
            for (offset, element) in elements.enumerated() {
                compile(element, at: first + offset, place: .element, flags: below.union(.inTuple))
            }
        }
    }

    private mutating func compileObject(_ schema: SchemaNode, of index: Int, into node: inout CompiledSchema.Node) {
        // `patternProperties` also decides which fields are additional, but ``Walker`` does not apply this keyword. It
        // therefore does not judge additional fields.
        let namesPatterns = !schema.constraints.patternProperties.isEmpty
        if namesPatterns || schema.unevaluated.contains(where: { $0.keyword == "patternProperties" }) {
            node.flags.insert(.ignoresExtras)
        }
        if schema.isGeoPoint, node.place != .root { node.flags.insert(.geoPoint) }
        compileFields(schema, of: index, into: &node)
        switch schema.additionalProperties {
        case .forbidden: node.flags.insert(.closed)
        case .schema(let value): compileValues(value, of: index, into: &node)
        case .allowed where schema.isDictionary && node.place != .root:
            var value = SchemaNode(location: schema.location)
            value.types = [.mixed]
            compileValues(value, of: index, into: &node)
        case .allowed: break
        }
        if schema.isDictionary, node.place != .root { node.flags.insert(.dictionary) }
    }

    private mutating func compileValues(_ value: SchemaNode, of index: Int, into node: inout CompiledSchema.Node) {
        let child = reserve(1, path: paths[index].appending(.values))
        node.additional = Int32(child)
        compile(value, at: child, place: .dictionaryValue, flags: node.flags.intersection(.inTuple).union(.embedded))
    }
}

extension SchemaCompiler {
    /// Adds the fields that `properties` names, and then the fields that only `required` or the app's partition key
    /// names.
    mutating func compileFields(_ schema: SchemaNode, of index: Int, into node: inout CompiledSchema.Node) {
        let declared = Set(schema.properties.map(\.name))
        var seen: Set<String> = []
        var required = schema.required.filter { seen.insert($0).inserted }
        let partition = node.place == .root ? context.partition : nil
        // The walker looks for the partition key as for a required field, even if the key may be absent.
        if let partition, seen.insert(partition.field).inserted { required.append(partition.field) }
        var names = schema.properties.map { (name: $0.name, schema: $0.node, isDeclared: true) }
        for name in required where !declared.contains(name) {
            names.append((name, SchemaNode(location: schema.location), false))
        }
        let requiredIndexes = Dictionary(uniqueKeysWithValues: required.enumerated().map { ($1, $0) })
        node.requiredCount = Int32(required.count)
        node.required = required.count >= 64 ? .max : (1 << UInt64(required.count)) - 1

        // The fields of an object are next to each other in `fields`. All of them are added before any is compiled,
        // because compiling a field adds the fields of the objects inside it.
        let first = fields.count
        let firstNode = reserve(names.count, path: paths[index])
        for (offset, entry) in names.enumerated() {
            appendField(node: firstNode + offset, requiredIndex: requiredIndexes[entry.name], entry.isDeclared)
        }
        node.fields = table.append(names.map(\.name))
        for (offset, entry) in names.enumerated() {
            let isRequired = schema.requires(entry.name)
            compileField(
                entry.schema, name: entry.name, isRequired, field: first + offset, of: node, at: paths[index])
            if let partition, partition.field == entry.name {
                compilePartition(partition, isRequired, field: first + offset)
            }
        }
    }

    private mutating func appendField(node: Int, requiredIndex: Int?, _ isDeclared: Bool) {
        var field = CompiledSchema.Field(node: Int32(node), isDeclared: isDeclared)
        if let requiredIndex {
            field.requiredIndex = Int32(requiredIndex)
            field.requiredBit = requiredIndex < 64 ? 1 << UInt64(requiredIndex) : 0
        }
        fields.append(field)
    }

    private mutating func compileField(
        _ schema: SchemaNode, name: String, _ isRequired: Bool, field: Int, of parent: CompiledSchema.Node,
        at path: SchemaPath
    ) {
        let index = Int(fields[field].node)
        paths[index] = path.appending(.field(name))
        var flags = parent.flags.intersection(.inTuple)
        if isRequired { flags.insert(.required) }
        if parent.place != .root { flags.insert(.embedded) }
        let isID = parent.place == .root && name == "_id"
        compile(schema, at: index, place: isID ? .id : .field, flags: flags)
        if schema.types == [.array] || (schema.types == [.object] && schema.isDictionary) {
            fields[field].whenMissing = .possible
        }
        if let value = schema.defaultValue { defaults.append((field, value)) }
    }
}

extension SchemaCompiler {
    /// Marks the nodes that hold the keys of a collection's links.
    ///
    /// A link's key is compared with a field of the linked documents, usually `_id`. If the schema states the types of
    /// that field, the node of the key accepts only these types.
    mutating func compileLinks(of collection: CollectionSchema) {
        for link in collection.relationships {
            guard let index = keyNode(link.source) else { continue }
            let scalars = TypeMask.all.subtracting([.object, .array])
            guard nodes[index].accepts.isSubset(of: scalars), !nodes[index].flags.contains(.mixed) else { continue }
            nodes[index].flags.insert(.link)
            if let types = context.keyTypes(of: link) { narrow(&nodes[index], to: types) }
            expectations[index] = "link to \(link.target) (\(expectations[index]))"
            links.append(.init(node: index, target: LinkTarget(link.target, [link.foreignKey])))
        }
    }

    /// Adds the relations of a Prisma model to the links.
    ///
    /// The findings of a relation belong to the node of one field of its key. Where possible, no other relation has the
    /// same node, so that the findings are counted for each relation.
    mutating func compileRelations(of collection: CollectionSchema) {
        for relation in collection.relations {
            let nodes = relation.fields.compactMap { field($0, of: 0) }.map { content(of: $0) ?? $0 }
            let own = nodes.last { node in !links.contains { $0.node == node } }
            guard nodes.count == relation.fields.count, let node = own ?? nodes.last else { continue }
            links.append(
                .init(node: node, target: LinkTarget(relation.target, relation.references), relation: relation))
        }
    }

    /// Returns the node at a path or, for a list or a dictionary, the node of its elements or values.
    /// - Returns: `nil` if the schema has no node at the path.
    private func keyNode(_ path: SchemaPath) -> Int? {
        var index = 0
        for step in path.steps {
            let next: Int? =
                switch step {
                case .field(let name): field(name, of: index)
                case .elements, .values: content(of: index)
                }
            guard let next else { return nil }
            index = next
        }
        return content(of: index) ?? index
    }

    private func field(_ name: String, of index: Int) -> Int? {
        let range = nodes[index].fields
        return (range.first..<range.first + range.count).first { table.name(Int($0)) == name }
            .map { Int(fields[Int($0)].node) }
    }

    private func content(of index: Int) -> Int? {
        let node = nodes[index]
        if node.items >= 0, node.tupleCount == 0 { return Int(node.items) }
        return node.flags.contains(.dictionary) ? Int(node.additional) : nil
    }
}

// MARK: links in mixed values

extension SchemaCompiler {
    /// Lists the collections that sync, because a DBRef may lead to them.
    mutating func compileReferences(from namespace: Namespace) {
        for target in context.synced ?? [] {
            let types = target.root.property("_id")?.types ?? []
            references.append(
                CompiledSchema.Reference(
                    database: table.key(target.namespace.database),
                    collection: table.key(target.namespace.collection),
                    isNear: target.namespace.database == namespace.database,
                    idTypes: types.isEmpty ? .all : TypeMask(keyOf: types),
                    hasUUIDs: types.isEmpty || types.contains(.uuid)))
        }
    }
}

extension SchemaCompiler {
    /// Makes the walker also judge a field as the partition key.
    ///
    /// The field must have the type of the app's partition key. The app's configuration decides whether the field must
    /// be present. If the configuration does not state that, the collection's schema decides.
    /// - Parameter isRequired: Whether the collection's own schema requires the field.
    private mutating func compilePartition(_ key: SyncConfiguration.PartitionKey, _ isRequired: Bool, field: Int) {
        let index = Int(fields[field].node)
        var node = nodes[index]
        node.flags.insert(.partition)
        let mustBeThere = key.isRequired ?? isRequired
        if mustBeThere { node.flags.insert(.partitionRequired) }
        if mustBeThere || !isRequired {
            fields[field].whenMissing = .unpartitioned(isAllowed: !mustBeThere)
            // Clients see a default in place of a missing partition key. But a default puts no document into a
            // partition, so the default of the partition key is removed.
            defaults.removeAll { $0.field == field }
        }
        narrow(&node, to: [key.type])
        nodes[index] = node
        if !fields[field].isDeclared { expectations[index] = key.type.rawValue }
    }

    /// Restricts the node of a partition key, or of a link's key, to the types that a schema declares for the key.
    /// - Parameter types: The declared types.
    func narrow(_ node: inout CompiledSchema.Node, to types: [SchemaType]) {
        node.accepts.formIntersection(TypeMask(keyOf: types))
        if types == [.uuid] { node.flags.insert(.uuid) }
        if node.flags.contains(.uuid) { node.flags.remove(.binary) }
        node.plain = plainTypes(of: node)
    }
}
