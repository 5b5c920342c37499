import BSON
import ServerSchema

/// Makes the schema of the documents that a Prisma client can read.
///
/// The client reads more types than it writes. Fields that a model does not name are allowed, because the client
/// ignores them.
struct PrismaValidator {
    /// The notes on the translation so far, in the order in which they were made.
    private(set) var notes: [ImportNote] = []
    private var isEmbedded = false
    /// The titles of the objects that contain the value.
    private var around: [String] = []
    /// The bytes of all enums that were written out.
    private var size = 0
    /// The most such bytes; while a validator is made, each takes about 70 bytes of memory.
    private static let largest = 1 << 19

    /// Returns the schema of a collection's documents.
    /// - Throws: ``SchemaError`` if it is too large for MongoDB.
    mutating func root(_ node: SchemaNode) throws(SchemaError) -> ValidatorSchema {
        let schema = object(node, at: SchemaPath())
        guard size <= Self.largest else { throw .tooLarge(at: node.location) }
        return schema
    }

    private mutating func object(_ node: SchemaNode, at path: SchemaPath) -> ValidatorSchema {
        var schema = ValidatorSchema(types: [.object])
        schema.title = node.title
        guard size <= Self.largest else { return schema }
        guard !node.properties.isEmpty else {
            let title = node.title ?? ""
            let reason = around.contains(title) ? "contains itself" : "has no fields, or is in too many places"
            let message = "the type \(title) \(reason): values here are not checked"
            note(.warning, .recursion, path, node.location, message)
            return schema
        }
        around.append(node.title ?? "")
        defer { around.removeLast() }
        let wasEmbedded = isEmbedded
        isEmbedded = !path.isRoot
        defer { isEmbedded = wasEmbedded }
        let required = node.properties.filter { isNeeded($0, in: node) }.map { BSONValue.string($0.name) }
        if !required.isEmpty { schema.keywords["required"] = .array(of: required) }
        var fields = FieldSchemas()
        for property in node.properties where FieldSchemas.isAddressable(property.name) {
            let place = path.appending(.field(property.name))
            let isNullable = !node.requires(property.name) || property.node.defaultValue != nil
            fields.named.append((property.name, value(property.node, isNullable: isNullable, at: place)))
        }
        schema.keywords.merge(fields.keywords) { own, _ in own }
        return schema
    }

    /// Whether the client fails to read an object without the field.
    private func isNeeded(_ property: SchemaNode.Property, in node: SchemaNode) -> Bool {
        guard property.node.defaultValue == nil else { return false }
        if node.requires(property.name) { return true }
        // In an embedded type, the client reads a missing list as an empty one only if the elements have an embedded
        // type.
        guard isEmbedded, case .each(let element) = property.node.items else { return false }
        return element.scalar != nil
    }

    private mutating func value(_ node: SchemaNode, isNullable: Bool, at path: SchemaPath) -> ValidatorSchema {
        if case .each(let element) = node.items {
            // The client reads null elements only in a list of objects.
            let elements = value(element, isNullable: element.scalar == nil, at: path.appending(.elements))
            var list = ValidatorSchema(types: [.array, .null])
            if !elements.isUnrestricted { list.keywords["items"] = elements.value }
            return list
        }
        let schema = single(node, at: path)
        guard isNullable else { return schema.isUnrestricted ? .not(ValidatorSchema(types: [.null])) : schema }
        let null = ValidatorSchema(types: [.null])
        return schema.isUnrestricted ? schema : schema.accepting([.null]) ?? .union([schema, null])
    }

    private mutating func single(_ node: SchemaNode, at path: SchemaPath) -> ValidatorSchema {
        guard let scalar = node.scalar else { return object(node, at: path) }
        guard !node.isPrismaEnum else {
            var schema = ValidatorSchema(types: [.string])
            schema.values = node.constraints.allowedValues
            // An enum of many values can be the type of many fields.
            size += (schema.values ?? []).reduce(0) { $0 + 8 + ($1.text?.utf8.count ?? 0) }
            if size > Self.largest { schema.values = nil }
            return schema
        }
        guard scalar != .json else { return ValidatorSchema() }
        let types = scalar.readTypes
        if types.count > 1 {
            let names = types.map(\.rawValue)
            let list = names.dropLast().joined(separator: ", ") + " or \(names[names.count - 1])"
            note(.decision, .readTypes, path, node.location, "the client reads \(scalar.rawValue) from \(list)")
        }
        var schema = ValidatorSchema(types: types)
        if scalar == .float {
            // The bounds exclude NaN and infinity, which the client does not read.
            schema.keywords["minimum"] = .double(-Double.greatestFiniteMagnitude)
            schema.keywords["maximum"] = .double(Double.greatestFiniteMagnitude)
        }
        return schema
    }

    private mutating func note(
        _ kind: ImportNote.Kind, _ code: ImportNote.Code, _ path: SchemaPath, _ location: SourceLocation,
        _ message: String
    ) {
        notes.append(ImportNote(kind: kind, code: code, path: path, location: location, message: message))
    }
}
