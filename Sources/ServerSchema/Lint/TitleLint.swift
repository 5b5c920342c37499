internal import BSON

/// Lint rules for the names of types: `title-missing`, `title-duplicate`, `title-conflict-embedded`,
/// `embedded-title-missing`, `title-too-long`, `title-charset`.
enum TitleLint {
    /// The most characters that a title can have.
    static let maximumLength = 57

    static func findings(in context: LintContext) -> [LintFinding] {
        context.places.flatMap { title(of: $0) } + duplicates(in: context) + conflicts(in: context)
    }

    private static func title(of place: LintPlace) -> [LintFinding] {
        guard place.holder == nil || place.isEmbedded else { return [] }
        guard let title = typeName(of: place.node) else {
            return [
                place.holder == nil
                    ? place.finding(
                        .titleMissing, .error, "the schema has no title, which names the clients' type",
                        remedy: "write its title")
                    : place.finding(
                        .embeddedTitleMissing, .warning,
                        "the embedded object has no title: its type gets a generated name",
                        remedy: "write its title")
            ]
        }
        var findings: [LintFinding] = []
        if let level = LintLength.level(of: title, maximum: maximumLength) {
            findings.append(
                place.finding(
                    .titleTooLong, level, "the title has \(LintLength.words(title)), but \(maximumLength) are allowed",
                    remedy: "shorten it"))
        }
        if !isIdentifier(title) {
            findings.append(
                place.finding(
                    .titleCharset, .warning, "the title \"\(title)\" is not an identifier: a client's class needs one",
                    remedy: "use letters, digits and _, a letter first"))
        }
        return findings
    }

    private static func typeName(of node: SchemaNode) -> String? { node.title.flatMap { $0.isEmpty ? nil : $0 } }

    /// Returns a text that describes the object type of a schema; two schemas with equal texts are the same type for
    /// clients.
    private static func shape(of node: SchemaNode) -> String {
        var text = node.types.map(\.rawValue).sorted().joined(separator: "|") + (node.uniqueItems ? "!" : "")
        let fields = node.properties.sorted { $0.name < $1.name }
        text += fields.map { "\($0.name)\(node.requires($0.name) ? "" : "?"):\(shape(of: $0.node))" }
            .joined(separator: ",")
        switch node.items {
        case .each(let element): text += "[\(shape(of: element))]"
        case .tuple(let elements): text += "[\(elements.map(shape).joined(separator: ","))]"
        case nil: break
        }
        if case .schema(let value) = node.additionalProperties { text += "{\(shape(of: value))}" }
        return "(\(text))"
    }

    private static func isIdentifier(_ title: String) -> Bool {
        guard let first = title.first, first.isASCII, first.isLetter else { return false }
        return title.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    }

    private static func duplicates(in context: LintContext) -> [LintFinding] {
        var owners: [TitleOwner: Namespace] = [:]
        return context.synced.compactMap { collection in
            guard let title = typeName(of: collection.root) else { return nil }
            let owner = TitleOwner(title: title, service: collection.service)
            guard let first = owners[owner] else {
                owners[owner] = collection.namespace
                return nil
            }
            return LintFinding(
                .titleDuplicate, .error, namespace: collection.namespace, at: collection.root.location,
                "\(first) has the title \(title) too: titles must be unique over all databases of a data source",
                remedy: "rename one")
        }
    }

    private static func conflicts(in context: LintContext) -> [LintFinding] {
        let roots = Dictionary(
            context.synced.compactMap { collection in typeName(of: collection.root).map { ($0, collection.namespace) }
            },
            uniquingKeysWith: { first, _ in first })
        var shapes: [String: (shape: String, first: LintPlace)] = [:]
        return context.places.compactMap { place in
            // If an embedded type contains itself, the rule `embedded-cycle` reports it, so this rule does not.
            guard place.isEmbedded, let title = typeName(of: place.node), !place.titlesAround.contains(title) else {
                return nil
            }
            if let root = roots[title] {
                return place.finding(
                    .titleConflictEmbedded, .warning, "the embedded type \(title) has the title of \(root)",
                    remedy: "rename it")
            }
            let shape = shape(of: place.node)
            guard let known = shapes[title] else {
                shapes[title] = (shape, place)
                return nil
            }
            guard known.shape != shape else { return nil }
            return place.finding(
                .titleConflictEmbedded, .warning,
                "the embedded type \(title) differs from the one at \(known.first.path) of \(known.first.namespace)",
                remedy: "make them the same, or rename one")
        }
    }
}

/// A title and its data source; titles must be unique within a data source.
private struct TitleOwner: Hashable {
    let title: String
    let service: String?
}
