import BSON
import ServerSchema

/// Builds a filter that matches only documents without findings of a higher level than ``Level/info``, so that the
/// check need not read these documents.
///
/// The filter is a `$jsonSchema`, because the operator `$type` would also match the types of an array's elements.
///
/// If a document repeats a field's name, the keyword `patternProperties` judges every such field, as the checker does.
/// The keyword `properties` judges only the first such field, but costs half as much. If possible, the filter has two
/// alternatives. The first one uses `properties`, and accepts only documents with each field of the schema once and no
/// other field. The second one uses `patternProperties`.
struct ProofBuilder {
    let schema: CompiledSchema
    /// Whether the builder, where possible, describes only objects that have each field of their schema once and no
    /// other field.
    private var isOfComplete = false
    private let budget = Budget()

    init(schema: CompiledSchema) { self.schema = schema }

    /// The number of values that the filter may still describe.
    ///
    /// The types of a Prisma schema are compiled once, but can have millions of places.
    private final class Budget {
        var left = 20_000
    }

    /// The largest number of levels that the filter describes; the check reads documents with more levels.
    ///
    /// The server limits the nesting of a filter.
    private static var maximumDepth: Int { 20 }
    /// The largest nesting depth at which a schema of the `jsonschema` dialect is used as a filter; the server allows a
    /// few levels more.
    private static var maximumLevels: Int { 60 }
    /// A schema that no value fits.
    private static let nothing: BSONValue = ["not": [:]]

    var filter: BSONDocument? {
        if let plan = schema.jsonSchema { return whole(plan) }
        guard let root = object(0, depth: 0) else { return nil }
        let size: BSONValue = ["$lte": [["$bsonSize": "$$ROOT"], .integer(Walker.maximumBytes)]]
        var proof: BSONDocument = ["$jsonSchema": .object(BSONDocument(root)), "$expr": size]
        if let complete = completeRoot {
            let either: BSONValue = [
                ["$jsonSchema": .object(BSONDocument(complete))], ["$jsonSchema": .object(BSONDocument(root))],
            ]
            proof = ["$or": either, "$expr": size]
        }
        // The server judges constraints as the checker does, but it refuses null where the checker accepts null. The
        // check therefore reads the documents in which a constrained value is null.
        guard let constraints = schema.constraints?.origins.first?.schema.jsonSchema else { return proof }
        return proof.appending("$and", [["$jsonSchema": .object(constraints)]])
    }

    /// Returns the filter that proves that a document fits a schema of the `jsonschema` dialect: the schema itself.
    private func whole(_ plan: JSONSchemaPlan) -> BSONDocument? {
        guard let root = plan.origins.first?.schema.jsonSchema, root.isPlain(levels: Self.maximumLevels) else {
            return nil
        }
        return ["$jsonSchema": .object(root)]
    }

    /// Returns a schema for the values of a node.
    ///
    /// A value that fits this schema certainly has no finding of a higher level than ``Level/info``.
    private func value(_ index: Int, depth: Int) -> BSONValue {
        budget.left -= 1
        guard budget.left > 0 else { return Self.nothing }
        let node = schema.nodes[index]
        var types = node.plain
        if allowsNull(node) { types.insert(.null) }
        if Self.aliases.allSatisfy({ types.contains($0.type) }) { return [:] }
        var keywords: [(String, BSONValue)] = []
        if node.accepts.contains(.object), !types.contains(.object), let object = object(index, depth: depth) {
            types.insert(.object)
            keywords += object
        }
        if node.accepts.contains(.array), !types.contains(.array), let array = array(index, depth: depth) {
            types.insert(.array)
            keywords += array
        }
        let names = Self.aliases.filter { types.contains($0.type) }.map { BSONValue.string($0.name) }
        return names.isEmpty ? Self.nothing : .object(BSONDocument([("bsonType", .array(of: names))] + keywords))
    }

    /// Whether null at a node certainly has no finding of a higher level than ``Level/info``.
    private func allowsNull(_ node: CompiledSchema.Node) -> Bool {
        node.place == .field && !schema.options.refusesNulls && node.accepts != .array
            && node.flags.isDisjoint(with: [.required, .partition, .partitionRequired, .dictionary])
    }

    /// A schema that accepts only documents with each field of the collection's schema once and no other field; `nil`
    /// if no such schema can be built.
    ///
    /// The server quickly finds that a document does not match this schema, so using it as the first alternative of the
    /// filter costs little.
    private var completeRoot: [(String, BSONValue)]? {
        guard schema.nodes[0].fields.names(in: schema).contains("_id") else { return nil }
        var builder = self
        builder.isOfComplete = true
        return builder.completeObject(0, depth: 0)
    }

    /// Returns a schema for objects that have each field once, no other field, and only values without findings of a
    /// higher level than ``Level/info``.
    /// - Returns: `nil` if the server's keywords cannot express such a schema, or if it would be nested too deeply.
    private func completeObject(_ index: Int, depth: Int) -> [(String, BSONValue)]? {
        let node = schema.nodes[index]
        let fields = Int(node.fields.first)..<Int(node.fields.first + node.fields.count)
        let names = node.fields.names(in: schema)
        guard depth < Self.maximumDepth, !names.isEmpty, node.flags.isDisjoint(with: [.geoPoint, .dictionary]),
            fields.allSatisfy({ schema.fields[$0].isDeclared }), names.allSatisfy(Self.isPlain),
            names.allSatisfy({ !Self.lockNames.contains($0) })
        else { return nil }
        let values = fields.map { value(Int(schema.fields[$0].node), depth: depth + 1) }
        return [
            ("properties", .object(BSONDocument(Array(zip(names, values))))),
            ("required", .array(of: names.map { .string($0) })), ("maxProperties", .integer(names.count)),
        ]
    }

    /// Whether the server reads the name as a name, and not as a path or an operator.
    static func isPlain(_ name: String) -> Bool {
        !name.isEmpty && !name.hasPrefix("$") && !name.contains(".") && !name.utf8.contains(0)
    }

    private func array(_ index: Int, depth: Int) -> [(String, BSONValue)]? {
        let node = schema.nodes[index]
        guard depth < Self.maximumDepth else { return nil }
        // A set must not have equal elements, and only the checker compares the elements. The filter therefore accepts
        // only sets of at most one element.
        var keywords: [(String, BSONValue)] = node.flags.contains(.set) ? [("maxItems", 1)] : []
        guard node.items >= 0 else { return keywords }
        let first = Int(node.items)
        var builder = self
        // In an array of many objects, it is rare that each object has all fields of the schema. A filter for such
        // objects would almost never match.
        builder.isOfComplete = false
        let items: BSONValue =
            node.tupleCount == 0
            ? builder.value(first, depth: depth + 1)
            : .array(of: (first..<first + Int(node.tupleCount)).map { builder.value($0, depth: depth + 1) })
        keywords.append(("items", items))
        return keywords
    }

    private func object(_ index: Int, depth: Int) -> [(String, BSONValue)]? {
        let node = schema.nodes[index]
        if isOfComplete, let complete = completeObject(index, depth: depth) { return complete }
        guard depth < Self.maximumDepth, !node.flags.contains(.geoPoint) else { return nil }
        var patterns: [(String, BSONValue)] = []
        var required: [BSONValue] = []
        for number in Int(node.fields.first)..<Int(node.fields.first + node.fields.count) {
            let (field, name) = (schema.fields[number], schema.table.name(number))
            guard field.isDeclared, !name.utf8.contains(0) else { return nil }
            patterns.append((Self.pattern(name), value(Int(field.node), depth: depth + 1)))
            guard needs(field) else { continue }
            guard Self.isPlain(name) else { return nil }
            required.append(.string(name))
        }
        if node.place == .root { patterns += Self.locks }
        if node.flags.contains(.dictionary) { patterns.append(("^\\z|^\\$|\\.", Self.nothing)) }
        var keywords: [(String, BSONValue)] = []
        if !patterns.isEmpty { keywords.append(("patternProperties", .object(BSONDocument(patterns)))) }
        if !required.isEmpty { keywords.append(("required", .array(of: required))) }
        if node.flags.contains(.closed) {
            keywords.append(("additionalProperties", false))
        } else if node.additional >= 0 {
            keywords.append(("additionalProperties", value(Int(node.additional), depth: depth + 1)))
        }
        return keywords
    }

    /// Whether the absence of the field causes a finding of a higher level than ``Level/info``.
    private func needs(_ field: CompiledSchema.Field) -> Bool {
        guard field.requiredIndex >= 0, schema.nodes[Int(field.node)].place != .id else { return false }
        switch field.whenMissing {
        case .certain, .possible, .unusableDefault: return true
        case .defaulted, .readAsNull: return false
        case .unpartitioned(let isAllowed): return !isAllowed
        }
    }

    /// The fields by which the sync engine locks a document.
    private static let lockNames = ["_id__baas_transaction", "_id_realm_transaction"]
    private static let locks: [(String, BSONValue)] = lockNames.map { ("^\($0)\\z", nothing) }

    /// Returns a regular expression that matches only the given name; the server matches it byte by byte.
    static func pattern(_ name: String) -> String {
        let escaped = name.unicodeScalars.reduce(into: "") { text, scalar in
            let isPlain =
                !scalar.isASCII || scalar == "_" || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
            text += (isPlain ? "" : "\\") + String(scalar)
        }
        return "^\(escaped)\\z"
    }

    private static let aliases: [(type: TypeMask, name: String)] = [
        (.double, "double"), (.string, "string"), (.object, "object"), (.array, "array"), (.binData, "binData"),
        (.undefined, "undefined"), (.objectId, "objectId"), (.bool, "bool"), (.date, "date"), (.null, "null"),
        (TypeMask(BSONType.regex), "regex"), (.dbPointer, "dbPointer"),
        (TypeMask(BSONType.javascript), "javascript"), (.symbol, "symbol"),
        (.javascriptWithScope, "javascriptWithScope"), (.int, "int"), (TypeMask(BSONType.timestamp), "timestamp"),
        (.long, "long"), (.decimal, "decimal"), (TypeMask(BSONType.minKey), "minKey"),
        (TypeMask(BSONType.maxKey), "maxKey"),
    ]
}

extension FieldRange {
    func names(in schema: CompiledSchema) -> [String] {
        (Int(first)..<Int(first + count)).map { schema.table.name($0) }
    }
}

extension BSONDocument {
    /// Whether the driver accepts the document in a filter: no name in it is empty, and it is not nested too deeply.
    fileprivate func isPlain(levels: Int) -> Bool {
        guard levels > 0, let elements = try? elements() else { return false }
        return elements.allSatisfy { name, value in
            guard !name.isEmpty else { return false }
            return switch value {
            case .object(let document): document.isPlain(levels: levels - 1)
            case .array(let values): values.isPlain(levels: levels - 1)
            default: true
            }
        }
    }
}
