import BSON
import ServerSchema

/// Builds a schema from the types and keywords that a ``SchemaFitter`` chose.
///
/// The same choices always give the same bytes, because `_id` comes first and the other fields are sorted by name.
struct SchemaBuilder {
    let fitter: SchemaFitter
    let enums: EnumRule?
    private var titles: TypeTitles

    init(_ fitter: SchemaFitter, title: String, reserved: Set<String>) {
        self.fitter = fitter
        enums = fitter.options.hasEnums ? EnumRule() : nil
        titles = TypeTitles(root: title, reserved: reserved)
    }

    /// Returns the content of the schema file: an App Services schema, or a validator with `$jsonSchema`.
    mutating func document() -> BSONDocument {
        var root = BSONBuilder()
        if fitter.isAppServices { root.append("title", .string(titles.root)) }
        root.append("bsonType", "object")
        let members = objectMembers(0, path: [])
        for (name, value) in members { root.append(name, value) }
        return fitter.isAppServices ? root.finish() : ["$jsonSchema": .object(root.finish())]
    }

    /// Returns the subschema for the values of a node; `nil` if the inferred schema does not describe these values.
    private mutating func schema(_ node: Int, path: [String]) -> BSONDocument? {
        guard let plan = fitter.plans[node] else { return nil }
        var parts: [(String, BSONValue)] = []
        if fitter.isAppServices, plan.types == [.object], !fitter.isDictionary(fitter.tree.nodes[node]) {
            parts.append(("title", .string(titles.title(at: path))))
        }
        parts.append(("bsonType", Self.types(plan.types)))
        if plan.types.contains(.object) {
            guard let object = members(ofObject: node, path: path) else { return nil }
            parts += object
        }
        if plan.types.contains(.array) {
            guard let elements = items(node, path: path) else { return nil }
            parts += elements
        }
        if let values = enums?.values(of: fitter.tree.nodes[node], plan) {
            parts.append(("enum", .array(of: values)))
        }
        return BSONDocument(parts)
    }

    private static func types(_ types: [SchemaType]) -> BSONValue {
        types.count == 1 ? .string(types[0].rawValue) : .array(of: types.map { .string($0.rawValue) })
    }

    /// Returns the keywords that describe an object; `nil` if App Services cannot describe it.
    private mutating func members(ofObject node: Int, path: [String]) -> [(String, BSONValue)]? {
        let found = fitter.tree.nodes[node]
        if found.isFolded {
            if let values = schema(found.values, path: path + ["value"]) {
                return [("additionalProperties", .object(values))]
            }
            return fitter.isAppServices ? nil : []
        }
        guard fitter.isAppServices, fitter.isDictionary(found) else { return objectMembers(node, path: path) }
        return [("additionalProperties", ["bsonType": "mixed"])]
    }

    private mutating func objectMembers(_ node: Int, path: [String]) -> [(String, BSONValue)] {
        let keys = fitter.tree.nodes[node].keys
        var required: [BSONValue] = []
        var properties: [(String, BSONValue)] = []
        for position in fitter.tree.sortedKeys(of: node) {
            let name = String(decoding: keys.name(position), as: UTF8.self)
            let child = keys.nodes[position]
            guard let schema = schema(child, path: path + [name]) else { continue }
            properties.append((name, .object(schema)))
            if fitter.plans[child]?.isRequired ?? false { required.append(.string(name)) }
        }
        // The schema always has an `_id`, because App Services needs its type, and would take an object without
        // properties for a dictionary.
        if node == 0, fitter.isAppServices, properties.first?.0 != "_id" {
            properties.insert(("_id", ["bsonType": "objectId"]), at: 0)
        }
        var members: [(String, BSONValue)] = []
        if !required.isEmpty { members.append(("required", .array(of: required))) }
        if !properties.isEmpty { members.append(("properties", .object(BSONDocument(properties)))) }
        return members
    }

    private mutating func items(_ node: Int, path: [String]) -> [(String, BSONValue)]? {
        let items = fitter.tree.nodes[node].items
        if items >= 0, let schema = schema(items, path: path) { return [("items", .object(schema))] }
        guard fitter.isAppServices else { return [] }
        // If the array was empty in every document, the schema allows any elements. If App Services cannot describe the
        // elements, the schema leaves out the array.
        return items < 0 ? [("items", ["bsonType": "mixed"])] : nil
    }
}

/// The rule that decides whether an inferred schema lists the allowed values of a field.
package struct EnumRule: Hashable, Sendable {
    /// The largest number of distinct values, apart from null, that a schema lists for a field.
    package var maximumValues = 12
    /// The smallest average number of occurrences per distinct value at which a schema lists the values of a field.
    package var minimumRepeats = 20
    /// The smallest number of values, apart from nulls, that a field must have in all documents together before a
    /// schema lists its distinct values.
    package var minimumCount = 100

    package init() {}

    /// Returns the values that the schema lists for a field; `nil` if it lists none.
    func values(of node: PathNode, _ plan: Plan) -> [BSONValue]? {
        guard let values = candidates(of: node) else { return nil }
        let declared = plan.types.filter { $0 != .null }
        guard declared.count == 1, values.allSatisfy({ $0.type.description == declared[0].rawValue }) else {
            return nil
        }
        let nulls = node.count(of: .null)
        return values + (nulls > 0 ? [.null] : [])
    }

    /// Returns the distinct values of a field if they are few, short, frequent and all of one type; otherwise `nil`.
    func candidates(of node: PathNode) -> [BSONValue]? {
        let counts = node.distinct.values
        let total = node.total - node.count(of: .null)
        guard !node.distinct.isTooMany, (1...maximumValues).contains(counts.count), total >= minimumCount,
            total >= counts.count * minimumRepeats, counts.reduce(0, { $0 + $1.count }) == total,
            Set(counts.map(\.value.type)).count == 1
        else { return nil }
        return counts.map(\.value)
    }
}
