package import BSON
import Jobs
import SchemaChange
package import ServerSchema

/// A partner job as far as two schemas of a collection say what it has to do.
package struct PartnerDraft: Sendable {
    /// The job file's text.
    package private(set) var text = ""
    /// What the schemas do not decide, a clause each: a comment of the file says the same.
    package private(set) var open: [String] = []

    private var forward: [String] = []
    private var reverse: [String] = []
    private var remarks: [String] = []
    private var own: (source: [String], target: [String]) = ([], [])

    /// What a draft is made from.
    package struct Parts: Sendable {
        /// The job's name.
        package var name: String
        /// The original.
        package var source: Namespace
        /// Its partner.
        package var target: Namespace
        /// The schemas, as the job file names them.
        package var schemas: (source: String?, target: String?)
        /// The new names of fields of the documents themselves, by their old ones.
        package var renames: [String: String]

        /// Joins the parts.
        package init(
            name: String, source: Namespace, target: Namespace, schemas: (source: String?, target: String?),
            renames: [String: String]
        ) {
            (self.name, self.source, self.target, self.schemas) = (name, source, target, schemas)
            self.renames = renames
        }
    }

    /// Compares the schema that is live with the next one.
    package init(_ parts: Parts, from old: SchemaNode, to new: SchemaNode) {
        var id: IDConversion?
        for property in old.properties {
            let name = parts.renames[property.name] ?? property.name
            guard let other = new.property(name) else {
                own.source.append(property.name)
                continue
            }
            if property.name == "_id" {
                id = conversion(of: property.node, to: other)
                continue
            }
            if name != property.name {
                forward.append("rename: {from: \(Self.word(property.name)), to: \(Self.word(name))}")
            }
            compare(property.node, other, at: name, property.name)
            if name != property.name {
                reverse.append("rename: {from: \(Self.word(name)), to: \(Self.word(property.name))}")
            }
        }
        let renamed = Set(parts.renames.values)
        for property in new.properties where old.property(property.name) == nil && !renamed.contains(property.name) {
            own.target.append(property.name)
            guard new.requires(property.name) else { continue }
            undecided(
                "\(property.name) is required in \(parts.target): what fills it? default: {field: \(property.name), value: …}"
            )
        }
        for name in own.source where old.requires(name) {
            undecided(
                "\(name) is required in \(parts.source): what fills it in a document that is made in the partner?")
        }
        text = render(parts, id)
    }

    private mutating func undecided(_ clause: String) {
        open.append(clause)
        remarks.append("# DECIDE: \(clause)")
    }

    private mutating func conversion(of old: SchemaNode, to new: SchemaNode) -> IDConversion? {
        guard Set(old.types) != Set(new.types), let from = old.types.first, let to = new.types.first else { return nil }
        let kinds: [SchemaType: IDConversion.Kind] = [.objectId: .objectId, .int: .int, .long: .int, .uuid: .uuid]
        if to == .string, let kind = kinds[from] { return IDConversion(kind, textsOn: .target) }
        if from == .string, let kind = kinds[to] { return IDConversion(kind, textsOn: .source) }
        if kinds[from] == .int, kinds[to] == .int { return nil }
        undecided("no conversion leads from an _id of \(from.rawValue) to one of \(to.rawValue) and back")
        return nil
    }

    /// Writes the steps for a value: `path` is where it stands in the partner, `before` where in the original.
    private mutating func compare(_ old: SchemaNode, _ new: SchemaNode, at path: String, _ before: String) {
        switch (Shape(old), Shape(new)) {
        case (.single(let from), .single(let to)): convert(from, to, at: path, before)
        case (.embedded, .embedded):
            for property in old.properties {
                guard let other = new.property(property.name) else {
                    undecided("\(before).\(property.name) has no place in the partner, and would not come back")
                    continue
                }
                compare(property.node, other, at: "\(path).\(property.name)", "\(before).\(property.name)")
            }
            for property in new.properties where old.property(property.name) == nil {
                undecided("\(path).\(property.name) has no place in the original, and would not come back")
            }
        case (.list, .list), (.set, .set), (.list, .set), (.set, .list):
            if case .each(let one)? = old.items, case .each(let two)? = new.items {
                compare(one, two, at: "\(path).[]", "\(before).[]")
            }
        case (.dictionary, .dictionary): break
        case (.single, .list), (.embedded, .list):
            forward.append("wrap: {field: \(Self.word(path))}")
            reverse.append("unwrap: {field: \(Self.word(path))}")
        case (.list, .single), (.list, .embedded):
            forward.append("unwrap: {field: \(Self.word(path))}")
            reverse.append("wrap: {field: \(Self.word(path))}")
        default: undecided("no step makes \(path) of its new kind and leads back")
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
        func step(_ from: SchemaType, _ to: SchemaType) -> String {
            let source = from == .uuid && to == .string ? ", from: uuid" : ""
            return "convert: {field: \(Self.word(path))\(source), to: \(to.rawValue)}"
        }
        forward.append(step(one, two))
        reverse.append(step(two, one))
    }

    private func render(_ parts: Parts, _ id: IDConversion?) -> String {
        var lines = [
            "# Serves the change of \(parts.source) by a second collection, \(parts.target).",
            "# shipshape partner init proves that every document comes back as it is before it writes.",
            "partner: \(Self.word(parts.name))", "source: \(Self.word("\(parts.source)"))",
            "target: \(Self.word("\(parts.target)"))",
        ]
        if let id { lines.append("id: {from: \(id.types.from), to: \(id.types.to)}") }
        let schemas = [("source", parts.schemas.source), ("target", parts.schemas.target)].compactMap { key, path in
            path.map { "\(key): \(Self.word($0))" }
        }
        if !schemas.isEmpty { lines.append("schema: {\(schemas.joined(separator: ", "))}") }
        let lists = [("source", own.source), ("target", own.target)].filter { !$0.1.isEmpty }.map { key, names in
            "\(key): [\(names.map(Self.word).joined(separator: ", "))]"
        }
        if !lists.isEmpty { lines.append("only: {\(lists.joined(separator: ", "))}") }
        lines += remarks
        lines.append(forward.isEmpty ? "forward: []" : "forward:")
        lines += forward.map { "  - \($0)" }
        lines.append(reverse.isEmpty ? "reverse: []" : "reverse:")
        lines += reverse.map { "  - \($0)" }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A text as YAML reads it back: bare where it can only be read as that.
    private static func word(_ text: String) -> String {
        let isBare =
            text.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "_-./".utf8.contains(byte)
            } && text.utf8.first.map { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F } == true
            && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(text.lowercased())
        return isBare ? text : (try? BSONValue.string(text).extendedJSON()) ?? text
    }
}
