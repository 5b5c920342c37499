internal import BSON

/// Converts a Prisma schema into the schemas of collections.
extension PrismaSchema {
    /// Returns the schemas of the collections that the models describe; ignored models get only a note.
    ///
    /// Each schema names the BSON type that the client writes; ``PrismaScalar/readTypes`` are the types that the client
    /// can read.
    /// - Parameter database: the database of the collections, because a model names only its collection.
    package func serverSchema(database: String) -> ServerSchema {
        var collections: [CollectionSchema] = []
        var notes = notes
        for model in models {
            guard !model.isIgnored else {
                notes.append(
                    SchemaNote(
                        location: model.location, message: "the model \"\(model.name)\" is not judged (@@ignore)"))
                continue
            }
            var conversion = PrismaConversion(schema: self)
            var collection = CollectionSchema(
                namespace: Namespace(database: database, collection: model.collection),
                root: conversion.object(model, isRoot: true))
            collection.dialect = .prisma
            collections.append(collection)
            notes += conversion.notes
        }
        var schema = ServerSchema(
            dialect: .prisma, collections: collections.sorted { $0.namespace < $1.namespace })
        schema.notes = notes
        schema.isWhole = true
        return schema
    }
}

/// Converts one model into the schema of its collection.
private struct PrismaConversion {
    let schema: PrismaSchema
    var notes: [SchemaNote] = []
    private var path: [String] = []
    private var nodeCount = 0

    /// The number of levels to which a type that contains itself is converted; values nested more deeply are not
    /// checked.
    private static let mostRecursion = 4
    /// The number of nodes from which on a model's schema counts as large.
    ///
    /// In a large schema, a type that contains itself is converted only one level deep.
    private static let mostNodes = 10_000

    init(schema: PrismaSchema) { self.schema = schema }

    mutating func object(_ model: PrismaSchema.Model, isRoot: Bool) -> SchemaNode {
        var node = SchemaNode(location: model.location)
        node.types = [.object]
        node.title = model.name
        let depth = path.count { $0 == model.name }
        guard depth == 0 || depth < Self.mostRecursion && nodeCount < Self.mostNodes else {
            note(model)
            return node
        }
        path.append(model.name)
        defer { path.removeLast() }
        node.hasProperties = true
        var (properties, required): ([SchemaNode.Property], [String]) = ([], [])
        for field in model.fields where field.isRead {
            var property = SchemaNode.Property(name: field.storedName, node: value(field))
            if isRoot, field.isID { property.name = "_id" }
            property.node.keyOfModel = model.relatedModel(by: field.name)
            property.node.deprecation = field.deprecation
            if property.name != field.name { property.clientName = field.name }
            properties.append(property)
            if field.arity == .required { required.append(property.name) }
        }
        (node.properties, node.required) = (properties, required)
        return node
    }

    private mutating func note(_ type: PrismaSchema.Model) {
        let message =
            "the type \"\(type.name)\" contains itself: values more than \(Self.mostRecursion) levels deep in it are "
            + "not judged"
        let note = SchemaNote(location: type.location, message: message)
        if !notes.contains(note) { notes.append(note) }
    }

    private mutating func value(_ field: PrismaSchema.Field) -> SchemaNode {
        nodeCount += 1
        var node = single(field)
        // A client reads a missing list as an empty list, and not as the list's default. The schema therefore has no
        // default for a list.
        if case .constant(let value)? = field.defaultValue { node.defaultValue = field.fitted(value) }
        guard field.arity == .list else { return node }
        var list = SchemaNode(location: field.location)
        list.types = [.array]
        list.items = .each(node)
        return list
    }

    private mutating func single(_ field: PrismaSchema.Field) -> SchemaNode {
        var node = SchemaNode(location: field.location)
        switch field.type {
        case .scalar(let scalar):
            node.scalar = scalar
            node.types = field.writtenType(of: scalar).map { [$0] } ?? []
        case .enumeration(let name):
            node.scalar = .string
            node.types = [.string]
            node.title = name
            node.constraints.allowedValues = schema.enumeration(name)?.values.map { .string($0.storedName) } ?? []
        case .embedded(let name):
            guard let type = schema.type(name) else { break }
            node = object(type, isRoot: false)
            node.location = field.location
        case .relation, .unsupported: break
        }
        return node
    }
}

extension PrismaSchema.Model {
    /// Returns the name of the related model whose keys a field holds; `nil` if no `@relation` names the field.
    ///
    /// If the keys consist of several fields, the field may hold only a part of each key.
    fileprivate func relatedModel(by key: String) -> String? {
        guard case .relation(let name)? = fields.first(where: { $0.relation?.fields.contains(key) == true })?.type
        else {
            return nil
        }
        return name
    }
}

extension PrismaSchema.Field {
    /// Returns the BSON type that the client writes for a value of a scalar type; `nil` for JSON, which may be of any
    /// type.
    func writtenType(of scalar: PrismaScalar) -> SchemaType? {
        switch nativeType?.type {
        case .objectId?: .objectId
        case .string?: .string
        case .int?: .int
        case .long?: .long
        case .double?: .double
        case .bool?: .bool
        case .date?: .date
        case .timestamp?: .timestamp
        case .binData?: .binData
        case .json?: nil
        case nil: scalar.writtenType
        }
    }

    /// Returns a field's constant default, converted to the BSON type that a Prisma client writes for the field.
    fileprivate func fitted(_ value: BSONValue) -> BSONValue {
        switch (value, nativeType?.type) {
        case (.long(let number), .int?): Int32(exactly: number).map { .int($0) } ?? value
        case (.long(let number), .double?): .double(Double(number))
        case (.string(let text), .objectId?): ObjectID(text).map { .objectID($0) } ?? value
        default: value
        }
    }
}

extension PrismaScalar {
    /// The BSON type that the client writes for a field without a native type (`@db.…`); `nil` for JSON.
    ///
    /// The client writes an `Int` with 64 bits; only version 5.14 wrote 32 bits (`prisma/orm#24262`).
    var writtenType: SchemaType? {
        switch self {
        case .string: .string
        case .boolean: .bool
        case .int, .bigInt: .long
        case .float: .double
        case .dateTime: .date
        case .bytes: .binData
        case .json: nil
        }
    }
}

extension PrismaScalar {
    /// The BSON types that the client reads; empty for JSON, which may be of any type.
    ///
    /// Source: `read_scalar_value` in `query-engine/connectors/mongodb-query-connector/src/value.rs` of
    /// prisma/prisma-engines at 93c574c2.
    package var readTypes: [SchemaType] {
        switch self {
        case .string: [.string, .objectId]
        case .boolean: [.bool]
        case .int: [.int, .long, .double, .bool]
        case .bigInt: [.int, .long, .bool]
        case .float: [.double, .int, .long]
        case .dateTime: [.date, .timestamp]
        case .bytes: [.binData, .objectId]
        case .json: []
        }
    }
}

extension SchemaNode {
    /// Whether the schema describes a field whose type is an enum of a Prisma schema.
    package var isPrismaEnum: Bool { scalar != nil && title != nil }

    /// Whether a Prisma client can read values of this type; for an enum, only some strings are readable.
    /// - Parameter type: a type other than null.
    package func reads(_ type: SchemaType) -> Bool {
        guard let scalar else { return types.contains(type) }
        return isPrismaEnum ? type == .string : scalar == .json || scalar.readTypes.contains(type)
    }

    /// Returns the type as a Prisma schema writes it, such as `String @db.ObjectId`.
    func prismaExpectation(_ scalar: PrismaScalar) -> String {
        if let title { return "enum \(title)" }
        guard let type = types.first, type != scalar.writtenType else { return scalar.rawValue }
        let native = PrismaSchema.NativeType.allCases.first { $0.rawValue.lowercased() == type.rawValue.lowercased() }
        return scalar.rawValue + (native.map { " @db.\($0.rawValue)" } ?? "")
    }
}
