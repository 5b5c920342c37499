import BSON
import ServerSchema

/// Builds the filter that finds the documents of a group, for the `jsonschema` dialect.
///
/// The filter is the group's one keyword, in a schema that holds nothing else but the way to it: mongod then finds what
/// the checker finds, by the same rules.
struct SchemaSlice {
    let plan: JSONSchemaPlan

    /// The filter, and whether it matches those documents and no others.
    func filter(for located: FindingCollector.Located) -> (document: BSONDocument, isExact: Bool) {
        let node = Int(located.finding.node)
        // What is at the end of a path may lack fields of its own, too.
        let isMissing = located.finding.rule == .requiredMissing && located.finding.found.detail == .missing
        if let path = topmostPath(of: node), !isMissing || path != node {
            // Of a path each keyword asks for a value of its own: only all of them together say what they mean.
            return (Self.failing(around(plan.origins[path].schema.jsonSchema, at: path)), false)
        }
        guard let leaf = leaf(of: located) else { return (Self.failing(plan.origins[0].schema.jsonSchema), false) }
        // A required field is missing from its parent: the way ends there.
        let end = located.finding.rule == .requiredMissing ? Int(plan.origins[node].parent) : node
        return (Self.failing(around(leaf, at: end)), isExact(located.finding))
    }

    private static func failing(_ schema: BSONDocument) -> BSONDocument {
        ["$nor": [["$jsonSchema": .object(schema)]]]
    }

    /// The node nearest to the root, up to this one, that stands for a path or for the object around it.
    private func topmostPath(of node: Int) -> Int? {
        var (node, found) = (node, nil as Int?)
        while node > 0 {
            if case .property(let name) = plan.origins[node].step, name.isEmpty || name.contains(".") { found = node }
            node = Int(plan.origins[node].parent)
        }
        return found
    }

    /// One keyword makes the two findings that none or several of `oneOf` fit.
    private func isExact(_ finding: Finding) -> Bool { finding.rule != .oneOf && finding.rule != .additionalItem }

    /// The schema that fails just where the finding is, for the node itself.
    private func leaf(of located: FindingCollector.Located) -> BSONDocument? {
        let finding = located.finding
        let origin = plan.origins[Int(finding.node)]
        let type = BSONValue.string("\(finding.found.type)")
        switch finding.rule {
        case .requiredMissing:
            guard case .property(let name) = origin.step else { return nil }
            return ["required": [.string(name)]]
        case .additionalProperty:
            guard case .field(let name)? = located.below.last, !name.contains("\\E") else { return nil }
            // Unlike `properties`, a pattern sees each field of a name that repeats.
            let pattern = "\\A\\Q\(name)\\E\\z"
            return ["patternProperties": .object(BSONDocument([(pattern, .object(["not": ["bsonType": type]]))]))]
        case .dependencyMissing:
            guard case .field(let name)? = located.below.last else { return nil }
            return ["dependencies": .object(Self.dependencies(of: origin.schema, on: name))]
        case .typeMismatch where !plan.judgesWhole(Int(finding.node)):
            // A value of the found type stands there, which the schema does not name.
            return ["not": ["bsonType": type]]
        default:
            guard let keyword = keyword(of: finding.rule, in: origin.schema) else { return nil }
            if plan.judgesWhole(Int(finding.node)) || finding.rule == .additionalItem { return keyword }
            return ["anyOf": [["not": ["bsonType": type]], .object(keyword)]]
        }
    }

    /// The entries of `dependencies` that list a field, without the other fields.
    private static func dependencies(of schema: SchemaNode, on name: String) -> BSONDocument {
        BSONDocument(
            schema.constraints.dependencies.compactMap { dependency in
                guard case .fields(let names) = dependency.demand, names.contains(name) else { return nil }
                return (dependency.field, [.string(name)])
            })
    }

    /// The schema with nothing but the keyword that a rule judges.
    private func keyword(of rule: Rule, in schema: SchemaNode) -> BSONDocument? {
        let names: [String]
        switch rule {
        case .typeMismatch: names = ["bsonType"]
        case .belowMinimum: names = ["minimum", "exclusiveMinimum"]
        case .aboveMaximum: names = ["maximum", "exclusiveMaximum"]
        case .notMultipleOf: names = ["multipleOf"]
        case .tooShort: names = ["minLength"]
        case .tooLong: names = ["maxLength"]
        case .patternMismatch: names = ["pattern"]
        case .notInEnum: names = ["enum"]
        case .tooFewItems: names = ["minItems"]
        case .tooManyItems: names = ["maxItems"]
        case .itemsNotUnique: names = ["uniqueItems"]
        case .additionalItem: names = ["items", "additionalItems"]
        case .tooFewProperties: names = ["minProperties"]
        case .tooManyProperties: names = ["maxProperties"]
        case .dependencySchema: names = ["dependencies"]
        case .allOf: names = ["allOf"]
        case .anyOf: names = ["anyOf"]
        case .oneOf: names = ["oneOf"]
        case .not: names = ["not"]
        case .encryptMismatch: names = ["encrypt"]
        default: return nil
        }
        let whole = schema.jsonSchema
        let keywords = ((try? whole.elements()) ?? []).filter { names.contains($0.name) }
        guard !keywords.isEmpty else { return nil }
        return BSONDocument(keywords.map { ($0.name, Self.emptied($0.name, $0.value, for: rule)) })
    }

    /// The keyword without what other rules judge.
    private static func emptied(_ name: String, _ value: BSONValue, for rule: Rule) -> BSONValue {
        switch (rule, value) {
        case (.additionalItem, .array(let entries)) where name == "items":
            .array(of: entries.values.map { _ in [:] })
        case (.dependencySchema, .object(let members)):
            .object(
                BSONDocument(
                    ((try? members.elements()) ?? []).filter { $0.value.type == .object }.map { ($0.name, $0.value) }))
        default: value
        }
    }

    /// The schema of the root that leads to a node and says there what `leaf` says.
    private func around(_ leaf: BSONDocument, at node: Int) -> BSONDocument {
        var schema = leaf
        var node = node
        while node > 0 {
            let origin = plan.origins[node]
            schema = step(origin.step, to: schema, in: plan.origins[Int(origin.parent)].schema)
            node = Int(origin.parent)
        }
        return schema
    }

    private func step(
        _ step: JSONSchemaPlan.Origin.Step, to schema: BSONDocument, in parent: SchemaNode
    ) -> BSONDocument {
        let child = BSONValue.object(schema)
        switch step {
        case .root, .combination: return schema
        case .property(let name): return ["properties": .object(BSONDocument([(name, child)]))]
        case .pattern(let text): return ["patternProperties": .object(BSONDocument([(text, child)]))]
        case .additional:
            return [
                "properties": .object(BSONDocument(parent.properties.map { ($0.name, [:]) })),
                "patternProperties": .object(
                    BSONDocument(parent.constraints.patternProperties.map { ($0.pattern, [:]) })),
                "additionalProperties": child,
            ]
        case .items: return ["items": child]
        case .tuple(let index):
            return ["items": .array(of: Array(repeating: BSONValue.object([:]), count: index) + [child])]
        case .additionalItems:
            guard case .tuple(let entries)? = parent.items else { return schema }
            return ["items": .array(of: entries.map { _ in [:] }), "additionalItems": child]
        case .dependency(let field): return ["dependencies": .object(BSONDocument([(field, child)]))]
        }
    }
}

extension JSONSchemaPlan {
    /// Whether a node's schema judges a document as a whole.
    fileprivate func judgesWhole(_ node: Int) -> Bool {
        switch origins[node].step {
        case .root: true
        case .property(let name): name.isEmpty
        case .combination, .dependency: judgesWhole(Int(origins[node].parent))
        default: false
        }
    }
}
