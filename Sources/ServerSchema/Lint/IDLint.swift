/// Lint rules for the primary key: `id-missing`, `id-type`, `id-not-required`.
enum IDLint {
    /// The types of primary key that clients support.
    static let types: Set<SchemaType> = [.string, .int, .long, .objectId, .uuid]

    static func findings(at place: LintPlace) -> [LintFinding] {
        guard place.holder == nil else { return [] }
        guard let id = place.node.property("_id") else {
            return [
                place.finding(
                    .idMissing, .error, "properties do not name _id, the primary key",
                    remedy: "define _id, and require it")
            ]
        }
        let path = SchemaPath([.field("_id")])
        var findings: [LintFinding] = []
        if let type = id.types.first, id.types.count == 1, !types.contains(type) {
            findings.append(
                LintFinding(
                    .idType, .error, namespace: place.namespace, path: path, at: id.location,
                    "clients do not support a primary key of type \(type.rawValue)",
                    remedy: "use objectId, string, int, long or uuid"))
        }
        if !place.node.requires("_id") {
            findings.append(
                LintFinding(
                    .idNotRequired, .warning, namespace: place.namespace, path: path, at: id.location,
                    "the primary key is optional", remedy: "list _id in required"))
        }
        return findings
    }
}
