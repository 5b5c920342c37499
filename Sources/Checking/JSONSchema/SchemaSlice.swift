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
        let finding = located.finding
        let node = Int(finding.node)
        let wholeSchema = plan.origins[0].schema.jsonSchema
        guard let leaf = leaf(of: located) else { return (Self.failing(wholeSchema), false) }
        let slice = around(leaf, at: node)
        return (Self.failing(slice), isExact(located))
    }

    private static func failing(_ schema: BSONDocument) -> BSONDocument {
        ["$nor": [["$jsonSchema": .object(schema)]]]
    }

    /// Of a path, and of two findings that one keyword makes of different values, the keyword alone says less.
    private func isExact(_ located: FindingCollector.Located) -> Bool {
        var node = Int(located.finding.node)
        while node > 0 {
            if case .property(let name) = plan.origins[node].step, name.isEmpty || name.contains(".") { return false }
            node = Int(plan.origins[node].parent)
        }
        switch located.finding.rule {
        case .oneOf, .additionalProperty, .additionalItem, .dependencyMissing: return false
        default: return true
        }
    }

    /// The schema that fails just where the finding is, for the node itself.
    private func leaf(of located: FindingCollector.Located) -> BSONDocument? {
        let finding = located.finding
        let node = Int(finding.node)
        if finding.rule == .requiredMissing {
            guard case .property(let name) = plan.origins[node].step else { return nil }
            return ["required": [.string(name)]]
        }
        let type = BSONValue.string("\(finding.found.type)")
        let isWhole = plan.judgesWhole(node)
        if finding.rule == .typeMismatch, !isWhole, finding.found.detail == .none {
            // A value of the found type stands there, which the schema does not name.
            return ["not": ["bsonType": type]]
        }
        guard let keyword = keyword(of: finding.rule, in: plan.origins[node].schema) else { return nil }
        if isWhole { return keyword }
        switch finding.rule {
        // What was found is not the node's value, but one inside of it, or missing.
        case .additionalItem, .additionalProperty, .dependencyMissing: return keyword
        default: break
        }
        return ["anyOf": [["not": ["bsonType": type]], .object(keyword)]]
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
        case .additionalProperty: names = ["properties", "patternProperties", "additionalProperties"]
        case .dependencyMissing, .dependencySchema: names = ["dependencies"]
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

    /// Of the fields and elements that a keyword names, only the names matter to what is additional.
    private static func emptied(_ name: String, _ value: BSONValue, for rule: Rule) -> BSONValue {
        switch (rule, name, value) {
        case (.additionalProperty, "properties", .object(let members)),
            (.additionalProperty, "patternProperties", .object(let members)):
            return .object(BSONDocument(((try? members.elements()) ?? []).map { ($0.name, [:]) }))
        case (.additionalItem, "items", .array(let entries)):
            return .array(of: entries.values.map { _ in [:] })
        default: return value
        }
    }

    /// The schema of the root that leads to a node and says there what `leaf` says.
    private func around(_ leaf: BSONDocument, at node: Int) -> BSONDocument {
        var schema = leaf
        // A required field is missing from its parent: the way ends there.
        var node = leaf["required"] != nil && plan.origins[node].step.isProperty ? Int(plan.origins[node].parent) : node
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

extension JSONSchemaPlan.Origin.Step {
    fileprivate var isProperty: Bool { if case .property = self { true } else { false } }
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
