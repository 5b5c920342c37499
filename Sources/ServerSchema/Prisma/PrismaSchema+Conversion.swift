internal import BSON

extension PrismaSchema {
    /// Returns the schemas of the collections that the models describe; ignored models get only a note.
    ///
    /// Each schema names the BSON type that the client writes; ``PrismaScalar/readTypes`` are the types that the client
    /// can read.
    /// - Parameter database: the database of the collections, because a model names only its collection.
    package func serverSchema(database: String) -> ServerSchema {
        var collections: [CollectionSchema] = []
        var notes = notes
        var conversion = PrismaConversion(schema: self)
        let definitions = conversion.definitions()
        for model in models {
            guard !model.isIgnored else {
                notes.append(
                    SchemaNote(
                        location: model.location, message: "the model \"\(model.name)\" is not judged (@@ignore)"))
                continue
            }
            var collection = CollectionSchema(
                namespace: Namespace(database: database, collection: model.collection),
                root: conversion.object(model, isRoot: true), dialect: .prisma)
            collection.types = definitions
            collection.relations = relations(of: model, in: database)
            collection.uniqueKeys = uniqueKeys(of: model)
            collections.append(collection)
        }
        notes += conversion.notes
        var schema = ServerSchema(
            dialect: .prisma, collections: collections.sorted { $0.namespace < $1.namespace })
        schema.notes = notes
        schema.isWhole = true
        return schema
    }
}

/// Converts models into the schemas of their collections.
///
/// An embedded type is written out at each of its uses, because lint, `diff`, `plan` and `import` find its fields by
/// their paths. A schema of a few hundred bytes can have millions of such paths, so the number of written-out fields is
/// limited. All further uses only refer to the type (``SchemaNode/isReference``).
private struct PrismaConversion {
    let schema: PrismaSchema
    private(set) var notes: [SchemaNote] = []
    private var level = 0
    /// The number of uses of each type above the node that is being converted.
    private var open: [String: Int] = [:]
    /// The number of fields of embedded types that may still be written out.
    ///
    /// A field below several levels counts for more, because its path is longer.
    private var left: Int
    /// The types with a note; an empty name if a note says that a type is in very many places.
    private var noted: Set<String> = []
    /// The values of each enum, which all its uses share.
    private let enums: [String: [BSONValue]]

    /// The number of levels to which a type that contains itself is written out.
    private static let mostRecursion = 4
    /// The number of fields of embedded types that are written out: for each field in the files, and at most.
    private static let (mostCopies, most) = (15, 25_000)

    init(schema: PrismaSchema) {
        self.schema = schema
        enums = Dictionary(schema.enums.map { ($0.name, $0.values.map { .string($0.storedName) }) }) { first, _ in first
        }
        left = min(Self.most, Self.mostCopies * (schema.models + schema.types).reduce(10) { $0 + $1.fields.count })
    }

    /// Returns each embedded type by its name; inside it, other types are only referred to.
    mutating func definitions() -> [String: SchemaNode] {
        let whole = self
        defer { self = whole }
        left = -1
        return Dictionary(schema.types.map { ($0.name, object($0, isRoot: false)) }) { first, _ in first }
    }

    private mutating func embedded(_ type: PrismaSchema.Model) -> SchemaNode {
        let uses = open[type.name, default: 0]
        let size = type.fields.count * (1 + level / 8)
        guard uses < Self.mostRecursion, level < SchemaNode.maximumDepth, size <= left else {
            note(type, isRecursive: uses > 0)
            var node = SchemaNode(location: type.location)
            (node.types, node.title, node.isReference) = ([.object], type.name, true)
            return node
        }
        left -= size
        open[type.name] = uses + 1
        defer { open[type.name] = uses }
        return object(type, isRoot: false)
    }

    mutating func object(_ model: PrismaSchema.Model, isRoot: Bool) -> SchemaNode {
        level += 1
        defer { level -= 1 }
        var node = SchemaNode(location: model.location)
        node.types = [.object]
        node.title = model.name
        node.hasProperties = true
        let related = model.relatedModels
        let uniques = Set(
            PrismaIndex.all(of: model).filter { $0.isUnique && $0.fields.count == 1 }.map { $0.fields[0].path })
        var (properties, required): ([SchemaNode.Property], [String]) = ([], [])
        for field in model.fields where field.isRead {
            var property = SchemaNode.Property(name: field.storedName, node: value(field))
            if isRoot, field.isID { property.name = "_id" }
            property.node.use.keyOfModel = related[field.name]
            property.node.use.isUnique = field.isUnique || uniques.contains(field.name)
            if case .function(let name)? = field.defaultValue { property.node.use.function = name }
            property.node.deprecation = field.deprecation
            if property.name != field.name { property.clientName = field.name }
            properties.append(property)
            if field.arity == .required { required.append(property.name) }
        }
        (node.properties, node.required) = (properties, required)
        return node
    }

    private mutating func note(_ type: PrismaSchema.Model, isRecursive: Bool) {
        let reason =
            isRecursive
            ? "contains itself: diff, plan and import know its fields only to level \(Self.mostRecursion)"
            : "is in very many places: diff, plan and import know its fields only in the first of them"
        let note = SchemaNote(
            location: type.location, message: "the type \"\(type.name)\" \(reason); check judges all")
        // Many types can be in too many places, so only the first of them is named.
        if noted.insert(isRecursive ? type.name : "").inserted { notes.append(note) }
    }

    private mutating func value(_ field: PrismaSchema.Field) -> SchemaNode {
        let isList = field.arity == .list
        if isList { level += 1 }
        defer { if isList { level -= 1 } }
        var node = single(field)
        // A client reads a missing list as an empty list, and not as the list's default. The schema therefore has no
        // default for a list.
        if case .constant(let value)? = field.defaultValue { node.defaultValue = field.fitted(value) }
        guard isList else { return node }
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
            node.constraints.allowedValues = enums[name] ?? []
        case .embedded(let name):
            guard let type = schema.type(name) else { break }
            node = embedded(type)
            node.location = field.location
        case .relation, .unsupported: break
        }
        return node
    }
}

extension PrismaSchema.Model {
    /// The related model of each field that holds keys, by the field's name: the fields that a `@relation` names.
    ///
    /// If the keys consist of several fields, such a field may hold only a part of each key.
    fileprivate var relatedModels: [String: String] {
        var related: [String: String] = [:]
        for field in fields {
            guard case .relation(let name) = field.type else { continue }
            for key in field.relation?.fields ?? [] where related[key] == nil { related[key] = name }
        }
        return related
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

    /// Whether a query of a Prisma client that names a value finds the value if it is stored with this type.
    ///
    /// The client names values of the type that it writes, and MongoDB compares only numbers across types.
    /// - Parameter type: a type other than null.
    package func finds(_ type: SchemaType) -> Bool {
        guard reads(type) else { return false }
        let numbers: Set<SchemaType> = [.int, .long, .double]
        return types.isEmpty || types.contains(type) || numbers.contains(type) && !numbers.isDisjoint(with: types)
    }

    /// Returns the type as a Prisma schema writes it, such as `String @db.ObjectId`.
    func prismaExpectation(_ scalar: PrismaScalar) -> String {
        if let title { return "enum \(title)" }
        guard let type = types.first, type != scalar.writtenType else { return scalar.rawValue }
        let native = PrismaSchema.NativeType.allCases.first { $0.rawValue.lowercased() == type.rawValue.lowercased() }
        return scalar.rawValue + (native.map { " @db.\($0.rawValue)" } ?? "")
    }
}
