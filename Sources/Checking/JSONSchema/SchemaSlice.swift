import BSON
import ServerSchema

/// Builds the filter that finds the documents of a violation group, for the `jsonschema` dialect and for constraints.
///
/// If possible, the filter negates a small schema, which has only the keyword that these documents break. mongod
/// applies the schema by the same rules as the checker.
struct SchemaSlice {
    let plan: JSONSchemaPlan

    /// Returns the filter for the violation group of a finding.
    func filter(for located: FindingCollector.Located, in schema: CompiledSchema) -> GroupFilter {
        let node = Int(located.finding.node)
        // The rule `requiredMissing` has two causes. With the detail `missing`, the node's own field is absent. Without
        // that detail, the object at the end of a path lacks a required field.
        let isMissing = located.finding.rule == .requiredMissing && located.finding.found.detail == .missing
        if let path = topmostPath(of: node), !isMissing || path != node {
            // The filter holds the whole schema of the path. A filter for one keyword would match other documents,
            // because different values at the path may satisfy different keywords.
            return GroupFilter(
                long: Self.failing(around(plan.origins[path].schema.jsonSchema, at: path)), isExact: false)
        }
        guard let leaf = leaf(of: located) else {
            return GroupFilter(long: Self.failing(plan.origins[0].schema.jsonSchema), isExact: false)
        }
        // The object that lacks a required field is the field's parent, so the path of the filter ends at the parent.
        let end = located.finding.rule == .requiredMissing ? Int(plan.origins[node].parent) : node
        return GroupFilter(
            long: Self.failing(around(leaf, at: end)), isExact: isExact(located.finding),
            query: query(located.finding, comparesBytes: schema.comparesBytes))
    }

    /// Returns the condition of the filter as a query on the value at the finding's path; `nil` if no query operators
    /// express it.
    private func query(_ finding: Finding, comparesBytes: Bool) -> FieldQuery? {
        let (node, type) = (Int(finding.node), finding.found.type)
        let isAtPath = plan.lineage(of: node).allSatisfy { node in
            switch plan.origins[node].step {
            case .property(let name): ProofBuilder.isPlain(name)
            case .combination: others(than: node) == nil
            default: false
            }
        }
        guard isAtPath, !plan.judgesWhole(node) else { return nil }
        let constraints = plan.origins[node].schema.constraints
        switch finding.rule {
        case .requiredMissing: return .missing
        case .typeMismatch: return FieldQuery(type)
        case .belowMinimum:
            let bound = constraints.minimum
            return bound.number.map { FieldQuery(type, bound.isExclusive ? "$gt" : "$gte", failing: $0) }
        case .aboveMaximum:
            let bound = constraints.maximum
            return bound.number.map { FieldQuery(type, bound.isExclusive ? "$lt" : "$lte", failing: $0) }
        case .tooShort where constraints.length.minimum == 1 && comparesBytes: return FieldQuery(type, [("$eq", "")])
        case .patternMismatch:
            return constraints.pattern.map { FieldQuery(type, [("$nin", [.regex(pattern: $0, options: "")])]) }
        case .notInEnum: return FieldQuery(type, outside: constraints.allowedValues ?? [], comparesBytes: comparesBytes)
        case .tooFewItems where constraints.itemCount.minimum == 1: return FieldQuery(type, [("$size", 0)])
        default: return nil
        }
    }

    private static func failing(_ schema: BSONDocument) -> BSONDocument {
        ["$nor": [["$jsonSchema": .object(schema)]]]
    }

    /// Returns the topmost node whose name is empty or contains a dot, among `node` and its ancestors.
    /// - Returns: `nil` if there is no such node.
    private func topmostPath(of node: Int) -> Int? {
        plan.lineage(of: node).last { node in
            if case .property(let name) = plan.origins[node].step { name.isEmpty || name.contains(".") } else { false }
        }
    }

    /// Whether the filter for a finding matches only documents with this finding.
    ///
    /// The keyword `oneOf` has one finding for a value that fits no schema, and another one for a value that fits
    /// several. The filter for `oneOf` matches both kinds of values. The filter for `additionalItems` also matches
    /// elements of other types than the type in the finding. If a field selects one of several schemas, a value may
    /// also fit another one of them.
    private func isExact(_ finding: Finding) -> Bool {
        guard finding.rule != .oneOf, finding.rule != .additionalItem else { return false }
        let around = plan.lineage(of: Int(finding.node))
        return !plan.selectors.contains { around.contains(Int($0.member)) && !$0.excludesOthers }
    }

    /// Returns a schema for the finding's node; `nil` if there is no suitable one.
    ///
    /// Every value with the finding breaks the schema. If possible, no other value breaks it.
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
            // If a document repeats a field name, `patternProperties` judges every field of that name; `properties`
            // judges only the first.
            let pattern = "\\A\\Q\(name)\\E\\z"
            return ["patternProperties": .object(BSONDocument([(pattern, .object(["not": ["bsonType": type]]))]))]
        case .dependencyMissing:
            guard case .field(let name)? = located.below.last else { return nil }
            return ["dependencies": .object(Self.dependencies(of: origin.schema, on: name))]
        case .typeMismatch where !plan.judgesWhole(Int(finding.node)):
            // All values with the finding have the type `type`, which the node's schema does not name. A schema that
            // refuses only this type therefore refuses all these values.
            return ["not": ["bsonType": type]]
        default:
            guard let keyword = keyword(of: finding.rule, in: origin.schema) else { return nil }
            if plan.judgesWhole(Int(finding.node)) || finding.rule == .additionalItem { return keyword }
            return ["anyOf": [["not": ["bsonType": type]], .object(keyword)]]
        }
    }

    /// Returns the entries of `dependencies` that require the field `name`, each reduced to a list of only this field.
    private static func dependencies(of schema: SchemaNode, on name: String) -> BSONDocument {
        BSONDocument(
            schema.constraints.dependencies.compactMap { dependency in
                guard case .fields(let names) = dependency.demand, names.contains(name) else { return nil }
                return (dependency.field, [.string(name)])
            })
    }

    /// Returns the keywords of a schema that the given rule checks; `nil` if the schema has none of them.
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
        case .allOf, .anyOf, .oneOf, .not: names = [rule.rawValue]
        case .encryptMismatch: names = ["encrypt"]
        default: return nil
        }
        let whole = schema.jsonSchema
        let keywords = ((try? whole.elements()) ?? []).filter { names.contains($0.name) }
        guard !keywords.isEmpty else { return nil }
        return BSONDocument(keywords.map { ($0.name, Self.emptied($0.name, $0.value, for: rule)) })
    }

    /// Returns the value of the keyword `name`, without the parts that other rules than `rule` check.
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

    /// Returns a schema for whole documents that applies `leaf` only to the values of one node.
    private func around(_ leaf: BSONDocument, at node: Int) -> BSONDocument {
        var schema = leaf
        for node in plan.lineage(of: node) {
            let origin = plan.origins[node]
            schema = step(origin.step, to: schema, in: plan.origins[Int(origin.parent)].schema)
            if case .combination = origin.step, let others = others(than: node) {
                schema = ["anyOf": [.object(others), .object(schema)]]
            }
        }
        return schema
    }

    /// Returns a schema for the values that do not select a schema of `anyOf` or `oneOf` by the value of a field; `nil`
    /// if no field selects it.
    private func others(than node: Int) -> BSONDocument? {
        let own = plan.selectors.filter { $0.member == node }
        guard !own.isEmpty else { return nil }
        let properties = own.map { ($0.name, BSONValue.object(["enum": [$0.value]])) }
        return [
            "not": [
                "properties": .object(BSONDocument(properties)), "required": .array(of: own.map { .string($0.name) }),
            ]
        ]
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
    /// Whether a node's schema judges a document or another object as a whole.
    fileprivate func judgesWhole(_ node: Int) -> Bool {
        switch origins[node].step {
        case .root: true
        case .property(let name): name.isEmpty
        case .combination, .dependency: judgesWhole(Int(origins[node].parent))
        default: false
        }
    }
}
