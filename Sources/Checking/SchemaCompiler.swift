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
    let surroundings: Surroundings

    init(_ surroundings: Surroundings) { self.surroundings = surroundings }

    mutating func compile(root: SchemaNode) {
        let index = reserve(1, path: SchemaPath())
        compile(root, at: index, place: .root, flags: [])
    }

    /// Makes room for nodes that must stand side by side.
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

    /// The types that fit without a further look at the value.
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
        // Evaluated, patternProperties settle together with additionalProperties what is additional.
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
