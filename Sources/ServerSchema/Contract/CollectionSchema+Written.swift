internal import BSON

extension ServerSchema {
    /// Returns the validators of the documents that the Prisma clients of these schemas write.
    package func written(isClosed: Bool) -> ServerSchema {
        var schema = self
        (schema.dialect, schema.prisma) = (.jsonSchema, nil)
        for (index, collection) in collections.enumerated() {
            schema.collections[index].root = collection.root.written(isClosed: isClosed)
            schema.collections[index].dialect = .jsonSchema
        }
        return schema
    }

    /// The validators of the documents that the Prisma clients of these schemas read; a client reads no NaN, and no
    /// infinity, either.
    package var readable: ServerSchema {
        var schema = self
        (schema.dialect, schema.prisma, schema.isOfClient) = (.jsonSchema, nil, true)
        for (index, collection) in collections.enumerated() {
            schema.collections[index].root = collection.root.readable()
            schema.collections[index].dialect = .jsonSchema
        }
        return schema
    }
}

extension SchemaNode {
    /// Returns the schema, in MongoDB's dialect, of the values that a Prisma client reads, as
    /// `docs/reference/rules.md` has them.
    fileprivate func readable(isNullable: Bool = false) -> SchemaNode {
        var node = mapped { child, step in
            // A client reads null elements only in a list of objects.
            let isOptional =
                if case .field(let name) = step { !requires(name) || child.defaultValue != nil } else {
                    child.scalar == nil
                }
            return child.readable(isNullable: isOptional)
        }
        if let scalar, !isPrismaEnum { node.types = scalar.readTypes }
        if isNullable || types == [.array], !node.types.isEmpty {
            node.types.append(.null)
            node.constraints.allowedValues?.append(.null)
        }
        node.required.removeAll { property($0)?.defaultValue != nil }
        (node.scalar, node.defaultValue) = (nil, nil)
        return node
    }
}

extension SchemaNode {
    /// Returns the schema, in MongoDB's dialect, of the values that a Prisma client writes.
    ///
    /// The client of Prisma 6 writes the types of its native types, and else an `Int` as a long (`into_bson` in
    /// `value.rs` of prisma-engines at 93c574c2). That of Prisma 8 writes by the driver for Node.js, whose serializer
    /// writes a whole number of 32 bits as an int, also for a `Float`.
    /// - Parameter isClosed: whether an object must not have fields that the schema does not name.
    fileprivate func written(isClosed: Bool, isNullable: Bool = false) -> SchemaNode {
        var node = mapped { child, step in
            let isNullable = if case .field(let name) = step { !requires(name) } else { false }
            return child.written(isClosed: isClosed, isNullable: isNullable)
        }
        (node.scalar, node.defaultValue) = (nil, nil)
        if scalar == nil, types.contains(.double) { node.types.append(.int) }
        if isNullable, !types.isEmpty, types != [.array], !types.contains(.null) {
            node.types.insert(.null, at: 0)
            node.constraints.allowedValues?.append(.null)
        }
        node.constraints.combinations = constraints.combinations.map { combination in
            .init(kind: combination.kind, nodes: combination.nodes.map { $0.written(isClosed: isClosed) })
        }
        guard hasProperties else { return node }
        // The schemas in `oneOf` name the other fields of an object, so they are closed in its place.
        node.hasAdditionalProperties = isClosed && constraints.combinations.isEmpty
        node.additionalProperties = node.hasAdditionalProperties ? .forbidden : .allowed
        return node
    }
}
