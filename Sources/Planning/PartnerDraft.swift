package import BSON
import Jobs
package import Partners
import SchemaChange
package import ServerSchema

/// A draft of the job file that keeps an original collection and its partner collection in sync.
///
/// The partner collection has the documents as the next schema describes them. The draft has the parts that the two
/// schemas determine, and lists the questions that they leave open.
package struct PartnerDraft: Sendable {
    package let name: String
    /// The original collection.
    package let source: Namespace
    package let target: Namespace
    /// The conversion of each `_id`; `nil` if the `_id`s stay unchanged, or if no conversion leads to the new type.
    package private(set) var id: IDConversion?
    /// Questions that the two schemas do not answer, each as a clause; the job file lists them as comments.
    package private(set) var open: [String] = []

    private var forward: [StepLine] = []
    private var reverse: [StepLine] = []
    /// The fields that only the original has, and the fields that only the partner has.
    private var own: (source: [String], target: [String]) = ([], [])

    /// Drafts the job from the live schema and the next schema.
    /// - Parameters:
    ///   - name: the job's name; `nil` derives it from the partner's name.
    ///   - renames: the new names of top-level fields, by their old names.
    package init(
        name: String? = nil, source: Namespace, target: Namespace, renames: [String: String], from old: SchemaNode,
        to new: SchemaNode
    ) {
        let standard = PlannedJob.isName(target.collection) ? target.collection : PlannedJob.fileName(of: target)
        (self.name, self.source, self.target) = (name ?? standard, source, target)
        for property in old.properties {
            let name = renames[property.name] ?? property.name
            guard let other = new.property(name) else {
                own.source.append(property.name)
                continue
            }
            if property.name == "_id" {
                id = conversion(of: property.node, to: other)
                continue
            }
            if name != property.name {
                forward.append(StepLine("rename", ["from": .text(property.name), "to": .text(name)]))
            }
            compare(property.node, other, at: name, property.name)
            if name != property.name {
                reverse.append(StepLine("rename", ["from": .text(name), "to": .text(property.name)]))
            }
        }
        let renamed = Set(renames.values)
        for property in new.properties where old.property(property.name) == nil && !renamed.contains(property.name) {
            own.target.append(property.name)
            guard new.requires(property.name) else { continue }
            undecided(
                "\(property.name) is required in \(target): what fills it? default: {field: \(property.name), value: …}"
            )
        }
        for name in own.source where old.requires(name) {
            undecided("\(name) is required in \(source): what fills it in a document that is inserted in the partner?")
        }
    }

    /// Drafts the job of a partner whose documents differ from those of the original only in their `_id`s.
    init(of source: Namespace, id: IDConversion) {
        let any = SchemaNode(location: SourceLocation(whole: "plan"))
        self.init(source: source, target: Self.target(for: source), renames: [:], from: any, to: any)
        self.id = id
    }

    /// Returns the default name of a partner collection: the name of the original, with `V2` at its end.
    package static func target(for source: Namespace) -> Namespace {
        Namespace(database: source.database, collection: source.collection + "V2")
    }

    private mutating func undecided(_ clause: String) { open.append(clause) }

    private mutating func conversion(of old: SchemaNode, to new: SchemaNode) -> IDConversion? {
        guard Set(old.types) != Set(new.types), let from = old.types.first, let to = new.types.first else { return nil }
        let kinds: [SchemaType: IDConversion.Kind] = [.objectId: .objectId, .int: .int, .long: .int, .uuid: .uuid]
        if to == .string, let kind = kinds[from] { return IDConversion(kind, textsOn: .target) }
        if from == .string, let kind = kinds[to] { return IDConversion(kind, textsOn: .source) }
        if kinds[from] == .int, kinds[to] == .int { return nil }
        undecided("no conversion leads from an _id of \(from.rawValue) to one of \(to.rawValue) and back")
        return nil
    }

    /// Adds the steps for the values at one path, which is `path` in the partner and `before` in the original.
    private mutating func compare(_ old: SchemaNode, _ new: SchemaNode, at path: String, _ before: String) {
        switch (Shape(old), Shape(new)) {
        case (.single(let from), .single(let to)): convert(from, to, at: path, before)
        case (.embedded, .embedded):
            for property in old.properties {
                guard let other = new.property(property.name) else {
                    undecided("the partner has no field for \(before).\(property.name), so it would not come back")
                    continue
                }
                compare(property.node, other, at: "\(path).\(property.name)", "\(before).\(property.name)")
            }
            for property in new.properties where old.property(property.name) == nil {
                undecided("the original has no field for \(path).\(property.name), so it would not come back")
            }
        case (.list, .list), (.set, .set), (.list, .set), (.set, .list), (.dictionary, .dictionary):
            if let one = old.inner, let two = new.inner {
                compare(one, two, at: "\(path)\(FieldPath.each)", "\(before)\(FieldPath.each)")
            }
        case (.single, .list), (.embedded, .list):
            forward.append(.plain("wrap", path))
            reverse.append(.plain("unwrap", path))
        case (.list, .single), (.list, .embedded):
            forward.append(.plain("unwrap", path))
            reverse.append(.plain("wrap", path))
        default: undecided("no step converts \(path) to its new type and back")
        }
    }

    private mutating func convert(
        _ from: Set<SchemaType>, _ to: Set<SchemaType>, at path: String, _ before: String
    ) {
        let (old, new) = (from.subtracting([.null]), to.subtracting([.null]))
        if old == new || old.contains(.mixed) && new.contains(.mixed) || old.isEmpty || new.isEmpty { return }
        guard old.count == 1, new.count == 1, let one = old.first, let two = new.first,
            Conversion.reaches(one), Conversion.reaches(two), Conversion.leads(from: one, to: two),
            Conversion.leads(from: two, to: one)
        else { return undecided("no conversion leads from \(path)'s old type to the new one and back") }
        forward.append(.convert(path, from: [one], to: two))
        reverse.append(.convert(path, from: [two], to: one))
    }
}

extension PartnerDraft {
    /// Returns the text of the job file, with the open questions as comments.
    /// - Parameters:
    ///   - origin: a sentence that says which schemas were compared.
    ///   - schemas: the paths of the schema files, as the job file names them; with `nil`, the file does not name that
    ///     schema.
    package func text(_ origin: String, schemas: (source: String?, target: String?)) -> String {
        var lines = [
            "# Keeps \(target) in sync with \(source), for a breaking change. \(origin)",
            "# Before it writes, shipshape partner init proves that every document comes back unchanged.",
        ].map(\.printable)
        lines += [
            "partner: \(YAMLText.word(name))", "source: \(YAMLText.word("\(source)"))",
            "target: \(YAMLText.word("\(target)"))",
        ]
        if let id { lines.append("id: {from: \(id.types.from), to: \(id.types.to)}") }
        let paths = [("source", schemas.source), ("target", schemas.target)].compactMap { key, path in
            path.map { "\(key): \(YAMLText.word($0))" }
        }
        if !paths.isEmpty { lines.append("schema: {\(paths.joined(separator: ", "))}") }
        let lists = [("source", own.source), ("target", own.target)].filter { !$0.1.isEmpty }.map { key, names in
            "\(key): [\(names.map(YAMLText.word).joined(separator: ", "))]"
        }
        if !lists.isEmpty { lines.append("only: {\(lists.joined(separator: ", "))}") }
        lines += open.map { "# DECIDE: \($0)".printable }
        for (key, steps) in [("forward", forward), ("reverse", reverse)] {
            lines.append(steps.isEmpty ? "\(key): []" : "\(key):")
            lines += steps.map { "  - \($0.text)" }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
