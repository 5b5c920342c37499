public import BSON

extension SchemaLint {
    /// What is odd in a schema of MongoDB's own dialect that the server would take.
    /// - Parameters:
    ///   - root: the schema of whole documents.
    ///   - namespace: the collection that it is for.
    public static func jsonSchema(_ root: SchemaNode, namespace: Namespace) -> [LintFinding] {
        let collection = CollectionSchema(namespace: namespace, root: root)
        var findings: [LintFinding] = []
        // A pattern may stand for any name, _id among them.
        if case .forbidden = root.additionalProperties, root.property("_id") == nil, root.hasNoPatterns {
            findings.append(
                LintFinding(
                    .idForbidden, .error, namespace: namespace, at: root.location,
                    "additionalProperties is false and properties do not name _id: every document fails",
                    remedy: "name _id in properties"))
        }
        for place in LintPlace.all(of: collection) where place.node.hasNoPatterns {
            // Every document has an _id, described or not.
            let names = place.node.undefinedRequired.filter { place.holder != nil || $0 != "_id" }
            findings += names.map { name in
                place.finding(
                    .requiredUndefined, .info, "required names \"\(name)\", which properties do not describe",
                    remedy: Spelling.hint(for: name, among: place.node.properties.map(\.name)))
            }
        }
        return findings
    }
}

extension SchemaNode {
    fileprivate var hasNoPatterns: Bool { constraints.patternProperties.isEmpty }
}
