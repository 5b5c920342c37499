internal import BSON

/// Finds the conditions of MongoDB's own validator that interfere with sync.
///
/// One is `required` inside embedded objects, because Sync writes a document in several parts. The others are
/// conditions that distinguish a missing value, null, and an empty array or object. Source: App Services documentation,
/// "Sync Best Practices".
enum ValidatorTrouble {
    static func of(_ validator: BSONDocument) -> [String] {
        var troubles: [String] = []
        keywords(of: validator, isInside: false, into: &troubles)
        return troubles
    }

    private static let tellingApart: Set<String> = ["$exists", "$size", "minItems", "minProperties"]

    /// Checks the keywords of a schema, or the operators of a query, at any depth.
    /// - Parameter isInside: whether the schema describes a value inside the document; `false` for the document itself.
    private static func keywords(of document: BSONDocument, isInside: Bool, into troubles: inout [String]) {
        for (name, value) in (try? document.elements()) ?? [] {
            if name == "required", isInside {
                add("its validator requires fields inside embedded objects, but Sync splits writes", to: &troubles)
            }
            if tellingApart.contains(name) {
                add("its validator distinguishes missing, null and empty values with \(name)", to: &troubles)
            }
            guard let inner = value.document else { continue }
            if ["properties", "patternProperties"].contains(name) {
                for schema in inner.values.compactMap(\.document) {
                    keywords(of: schema, isInside: true, into: &troubles)
                }
            } else {
                keywords(of: inner, isInside: isInside || name == "items", into: &troubles)
            }
        }
    }

    private static func add(_ trouble: String, to troubles: inout [String]) {
        if !troubles.contains(trouble) { troubles.append(trouble) }
    }
}
