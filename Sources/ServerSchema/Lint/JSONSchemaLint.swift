public import BSON
internal import Patterns

extension SchemaLint {
    /// Returns findings about a schema of MongoDB's own dialect: mistakes that the server accepts.
    /// - Parameters:
    ///   - root: the schema of whole documents.
    ///   - namespace: the collection that the schema covers.
    public static func jsonSchema(_ root: SchemaNode, namespace: Namespace) -> [LintFinding] {
        let collection = CollectionSchema(namespace: namespace, root: root)
        var findings: [LintFinding] = []
        // With `patternProperties`, the root may allow `_id`, because one of the regular expressions might match it.
        if case .forbidden = root.additionalProperties, root.property("_id") == nil,
            root.constraints.patternProperties.isEmpty
        {
            findings.append(
                LintFinding(
                    .idForbidden, .error, namespace: namespace, at: root.location,
                    "additionalProperties is false and properties do not name _id: every document fails",
                    remedy: "name _id in properties"))
        }
        let places = LintPlace.all(of: collection)
        for place in places where place.node.constraints.patternProperties.isEmpty {
            // At the root, `_id` is not reported as undefined, because every document has an `_id`.
            let names = place.node.undefinedRequired.filter { place.holder != nil || $0 != "_id" }
            findings += names.map { name in
                place.finding(
                    .requiredUndefined, .info, "required names \"\(name)\", which properties do not describe",
                    remedy: Spelling.hint(for: name, among: place.node.properties.map(\.name)))
            }
        }
        for place in places {
            findings += patterns(of: place.node).compactMap { pattern in
                guard let refusal = try? Pattern(pattern.text, mode: pattern.mode).refusalByPCRE2 else { return nil }
                return place.finding(
                    .patternOutdated, .warning,
                    "MongoDB 6.1 and later refuse the pattern \"\(pattern.text)\": \(refusal)",
                    remedy: "leave out a backslash without a meaning; put one before a hyphen that is not a range",
                    at: pattern.location)
            }
        }
        return findings
    }

    private struct Expression {
        var text: String
        var mode: Pattern.Mode
        var location: SourceLocation
    }

    /// Returns the regular expressions of a schema, and of the schemas inside it that have no ``LintPlace`` of their
    /// own.
    ///
    /// Schemas in `patternProperties`, `dependencies`, `additionalItems` and combinations have no ``LintPlace``.
    private static func patterns(of node: SchemaNode) -> [Expression] {
        let constraints = node.constraints
        var found =
            constraints.pattern.map { [Expression(text: $0, mode: .characters, location: node.location)] } ?? []
        for property in constraints.patternProperties {
            found.append(Expression(text: property.pattern, mode: .bytes, location: node.location))
            found += everyPattern(in: property.node)
        }
        for dependency in constraints.dependencies {
            if case .schema(let node) = dependency.demand { found += everyPattern(in: node) }
        }
        if case .schema(let node) = constraints.additionalItems { found += everyPattern(in: node) }
        return found + constraints.combinations.flatMap(\.nodes).flatMap(everyPattern)
    }

    /// Returns the regular expressions of a schema that has no ``LintPlace``, and those of all schemas inside it.
    private static func everyPattern(in node: SchemaNode) -> [Expression] {
        LintPlace.all(of: CollectionSchema(namespace: Namespace(database: "", collection: ""), root: node))
            .flatMap { patterns(of: $0.node) }
    }
}
