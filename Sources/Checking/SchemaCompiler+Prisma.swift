import BSON
import ServerSchema

/// Compiles the schemas of a Prisma schema's collections.
///
/// A Prisma client reads more BSON types than it writes; see ``PrismaScalar``.
extension SchemaCompiler {
    mutating func compile(prisma collection: CollectionSchema) {
        let root = reserve(1, path: SchemaPath())
        compile(prisma: collection.root, at: root, place: .root, flags: [.required], collection.types)
    }

    private mutating func compile(
        prisma schema: SchemaNode, at index: Int, place: CompiledSchema.Place, flags: CompiledSchema.Flags,
        _ types: [String: SchemaNode]
    ) {
        var node = CompiledSchema.Node()
        node.place = place
        node.flags = flags.union(.prisma)
        if let scalar = schema.scalar, !schema.isPrismaEnum {
            (node.accepts, node.plain) = (scalar.accepted, scalar.plainTypes(writing: schema.types))
        } else if schema.isPrismaEnum {
            node.accepts = .string
            compileMembers(schema, of: index, into: &node)
        } else if case .each(let element) = schema.items {
            node.accepts = .array
            let child = reserve(1, path: paths[index].appending(.elements))
            node.items = Int32(child)
            compile(prisma: element, at: child, place: .element, flags: .embedded, types)
        } else {
            node.accepts = .object
            compileObject(prisma: schema, of: index, into: &node, types)
        }
        let readsNull = place != .element && (schema.types == [.array] || !node.flags.contains(.required))
        if readsNull { node.plain.insert(.null) } else { node.plain.remove(.null) }
        nodes[index] = node
        expectations[index] = schema.expectation(asRoot: place == .root)
    }

    private mutating func compileMembers(_ schema: SchemaNode, of index: Int, into node: inout CompiledSchema.Node) {
        node.flags.insert(.enumeration)
        if let known = schema.title.flatMap({ shared[$0] }) { return node.fields = known.fields }
        let members = (schema.constraints.allowedValues ?? []).compactMap(\.text)
        for _ in members { fields.append(CompiledSchema.Field(node: Int32(index))) }
        node.fields = table.append(members)
        if let title = schema.title { shared[title] = node }
    }

    /// Compiles an object: a model, or an embedded type, whose fields are compiled at its first use only.
    private mutating func compileObject(
        prisma schema: SchemaNode, of index: Int, into node: inout CompiledSchema.Node, _ types: [String: SchemaNode]
    ) {
        guard node.place != .root, let title = schema.title, let type = types[title] else {
            if schema.properties.isEmpty { node.plain = .object }
            return compileFields(prisma: schema, at: paths[index], into: &node, types)
        }
        node.flags.insert(.shared)
        if type.properties.isEmpty { node.plain = .object }
        if let known = shared[title] {
            (node.fields, node.required, node.requiredCount) = (known.fields, known.required, known.requiredCount)
        } else {
            compileFields(prisma: type, at: SchemaPath(), into: &node, types)
        }
    }

    private mutating func compileFields(
        prisma schema: SchemaNode, at path: SchemaPath, into node: inout CompiledSchema.Node,
        _ types: [String: SchemaNode]
    ) {
        // The fields of an object are next to each other in `fields`. All of them are added before any is compiled,
        // because compiling a field adds the fields of the objects inside it.
        let first = fields.count
        let firstNode = reserve(schema.properties.count, path: path)
        for (offset, property) in schema.properties.enumerated() {
            var field = CompiledSchema.Field(node: Int32(firstNode + offset))
            field.whenMissing = whenMissing(property, of: schema, in: node.place)
            if schema.requires(property.name) || field.whenMissing == .readAsNull {
                field.requiredIndex = node.requiredCount
                field.requiredBit = node.requiredCount < 64 ? 1 << UInt64(node.requiredCount) : 0
                node.requiredCount += 1
            }
            fields.append(field)
        }
        node.required = node.requiredCount >= 64 ? .max : (1 << UInt64(node.requiredCount)) - 1
        node.fields = table.append(schema.properties.map(\.name))
        // The type is known before its fields are compiled, because it may contain itself.
        if node.place != .root, let title = schema.title { shared[title] = node }
        for (offset, property) in schema.properties.enumerated() {
            paths[firstNode + offset] = path.appending(.field(property.name))
            var flags: CompiledSchema.Flags = node.place == .root ? [] : .embedded
            if schema.requires(property.name) { flags.insert(.required) }
            if fields[first + offset].whenMissing == .defaulted { flags.insert(.defaulted) }
            compile(prisma: property.node, at: firstNode + offset, place: .field, flags: flags, types)
        }
    }

    private func whenMissing(
        _ property: SchemaNode.Property, of schema: SchemaNode, in place: CompiledSchema.Place
    ) -> CompiledSchema.WhenMissing {
        if property.node.defaultValue != nil { return .defaulted }
        // In an embedded type, a Prisma client reads a missing list as an empty one only if the elements are embedded
        // types; otherwise the client reads null.
        if place != .root, case .each(let element) = property.node.items, element.scalar != nil { return .readAsNull }
        return .certain
    }
}

extension PrismaScalar {
    /// The BSON types that a Prisma client can read from a field of this type.
    fileprivate var accepted: TypeMask { self == .json ? .all : TypeMask(readTypes.map { TypeMask($0) }) }

    /// Returns the BSON types of which a Prisma client reads every value without a change, and finds every value by a
    /// query that names it.
    ///
    /// The client returns an `Int` and a `Float` as a number of JavaScript, which can hold every `int` exactly, but not
    /// every `long`. In its queries, it names values of the type that it writes. MongoDB compares binary data with its
    /// subtype, and a timestamp with its increment, and the client writes 0 for both.
    /// - Parameter written: The type that the client writes, with the native type of the field; empty for JSON.
    fileprivate func plainTypes(writing written: [SchemaType]) -> TypeMask {
        switch self {
        case .int, .float: .int
        case .bigInt: .integers
        case .boolean, .json: accepted
        case .string, .dateTime, .bytes:
            TypeMask(written.map { TypeMask($0) }).subtracting([.binData, TypeMask(BSONType.timestamp)])
        }
    }
}

extension CompiledSchema.Node {
    /// The BSON type to which a Prisma client converts numbers in the node's field; `nil` if it converts no numbers.
    var prismaNumber: TypeMask? {
        if accepts.contains(.object) || accepts.isDisjoint(with: .numbers) { return nil }
        return accepts.contains(.bool) ? .long : .double
    }
}
