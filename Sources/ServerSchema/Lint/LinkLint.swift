internal import BSON

/// Lint rules for links: `link-required`, `link-source-id`, `link-foreign-key`, `link-ref-unresolved`, `link-type`,
/// `link-cross-partition`.
struct LinkLint {
    private let link: Relationship
    private let source: CollectionSchema
    private let context: LintContext

    static func findings(in context: LintContext) -> [LintFinding] {
        context.synced.flatMap { source in
            source.relationships.flatMap { LinkLint(link: $0, source: source, context: context).findings }
        }
    }

    private var findings: [LintFinding] {
        var findings = start
        if link.foreignKey != "_id" {
            findings.append(
                finding(
                    .linkForeignKey, "the link leads to \(link.foreignKey), but under Sync links must lead to _id",
                    remedy: "write foreign_key \"_id\""))
        }
        guard let target = context.schema[link.target] else {
            // If a single schema file was read, an unresolved link is not reported, because the other collections are
            // not known.
            return findings + (context.schema.isOneFile ? [] : [unresolved])
        }
        if let wanted = link.service, let service = target.service, wanted != service {
            findings.append(
                finding(
                    .linkRefUnresolved, "the link names the data source \(wanted), but \(link.target) is in \(service)",
                    remedy: "name \(service)"))
        } else if let own = source.service, let service = target.service, own != service {
            findings.append(
                finding(
                    .linkRefUnresolved, "\(link.target) is in \(service), and Sync covers one data source",
                    remedy: "link within \(own)"))
        }
        return findings + ends(target)
    }

    private var start: [LintFinding] {
        guard case .field(let name) = link.source.steps.last else { return [] }
        if link.source.steps.count == 1, name == "_id" {
            return [finding(.linkSourceID, "the primary key cannot be a link", remedy: "link from another field")]
        }
        let holder = source.root.node(at: SchemaPath(link.source.steps.dropLast()))
        guard holder?.requires(name) ?? false else { return [] }
        return [finding(.linkRequired, "a link cannot be required", remedy: "leave the field out of required")]
    }

    private var unresolved: LintFinding {
        let names = context.schema.collections.map(\.namespace.description)
        return finding(
            .linkRefUnresolved, "the link leads to \(link.target), which has no schema",
            remedy: Spelling.hint(for: link.target.description, among: names) ?? "give it one, or remove the link")
    }

    /// Checks that both ends of the link have the same type, and that the partition key is in both collections or in
    /// neither.
    private func ends(_ target: CollectionSchema) -> [LintFinding] {
        var findings: [LintFinding] = []
        if let node = source.root.node(at: link.source) { findings += types(of: node, target) }
        if case .partition(let key) = context.schema.sync?.mode {
            let (own, other) = (source.root.property(key.field) != nil, target.root.property(key.field) != nil)
            if own != other {
                findings.append(
                    finding(
                        .linkCrossPartition, level: .warning,
                        "\(own ? link.target : source.namespace) has no \(key.field): both ends of a link must be in "
                            + "one partition", remedy: "define the partition key in both"))
            }
        }
        return findings
    }

    private func types(of node: SchemaNode, _ target: CollectionSchema) -> [LintFinding] {
        let isHeld: Bool = if case .field = link.source.steps.last { false } else { true }
        let isCollection = node.types == [.array] || node.isDictionary
        guard isHeld || isCollection == link.isList else {
            return [
                finding(
                    .linkType,
                    "the field is \(isCollection ? "a collection" : "one value"), but is_list is \(link.isList)",
                    remedy: "write is_list \(isCollection)")
            ]
        }
        let key = isCollection ? Self.held(by: node) : node
        guard let foreign = target.root.property(link.foreignKey) else {
            // If the target collection does not define `_id`, the rule `id-missing` reports that, so this rule does
            // not.
            guard link.foreignKey != "_id" else { return [] }
            return [finding(.linkRefUnresolved, "\(link.target) has no property \(link.foreignKey)")]
        }
        guard let own = key.flatMap(Self.keyType), let other = Self.keyType(foreign), own != other else { return [] }
        return [
            finding(
                .linkType,
                "the link is of type \(own.rawValue), but \(link.foreignKey) of \(link.target) is of type "
                    + other.rawValue,
                remedy: "make the types equal")
        ]
    }

    /// Returns the schema of an array's elements or of a dictionary's values; `nil` if there is none.
    private static func held(by node: SchemaNode) -> SchemaNode? {
        if case .each(let element) = node.items { return element }
        return node.dictionaryValue
    }

    /// Returns the type of key that a schema allows, apart from null; `nil` if it allows several types or none.
    ///
    /// For int, the result is long, because clients do not distinguish the two types.
    private static func keyType(_ node: SchemaNode) -> SchemaType? {
        let types = node.types.filter { $0 != .null }
        guard types.count == 1 else { return nil }
        return types[0] == .int ? .long : types[0]
    }

    private func finding(
        _ code: LintFinding.Code, level: LintFinding.Level = .error, _ message: String, remedy: String? = nil
    ) -> LintFinding {
        LintFinding(
            code, level, namespace: source.namespace, path: link.source, at: link.location, message, remedy: remedy)
    }
}
