import BSON
import ServerSchema

/// A field that the user names on the command line, such as `Person.address.zip`.
struct StatedField {
    /// The field's path, which begins with the title of its type or the name of its collection.
    let field: String
    /// The flag with its value, as messages show it.
    let flag: String

    init(_ field: String, flag: String) { (self.field, self.flag) = (field, flag) }

    /// A field as a schema describes it.
    struct Place {
        let collection: CollectionSchema
        let path: SchemaPath
        let node: SchemaNode
        let isRequired: Bool
    }

    /// Finds the field in a schema.
    /// - Parameter name: the word for the schema in messages, such as `newer`.
    /// - Throws: ``PlanError`` if ``field`` does not name exactly one field of the schema.
    func place(in schema: ServerSchema, named name: String) throws(PlanError) -> Place {
        let owners = schema.collections.flatMap { collection in
            [collection.namespace.description, collection.root.title, collection.namespace.collection]
                .compactMap(\.self).filter { field.hasPrefix("\($0).") }.map { (collection, $0) }
        }
        guard let longest = owners.map(\.1.count).max() else {
            // If the schema has only one collection, the path of the field is enough, as `diff` prints it.
            if schema.collections.count == 1 {
                return try place(of: Self.names(of: field[...]), in: schema.collections[0])
            }
            let names = schema.collections.map { $0.root.title ?? "\($0.namespace)" }
            let hint = Spelling.hint(for: String(field.prefix { $0 != "." }), among: names)
            let owned = schema.collections.filter { (try? place(of: Self.names(of: field[...]), in: $0)) != nil }
            let whole = owned.map { "\($0.root.title ?? "\($0.namespace)").\(field)" }
            guard whole.isEmpty else {
                throw error("a type or a collection must come first (write \(whole.joined(separator: " or ")))")
            }
            throw error("the \(name) schema has no such type or collection\(hint.map { " (\($0))" } ?? "")")
        }
        var meant = owners.filter { $0.1.count == longest }
        meant =
            meant.filter { entry in entry.0.namespace == meant[0].0.namespace }.count == meant.count
            ? [meant[0]] : meant
        guard meant.count == 1 else {
            throw error("several collections have that name: name it as DATABASE.COLLECTION")
        }
        let (collection, owner) = meant[0]
        return try place(of: Self.names(of: field.dropFirst(owner.count + 1)), in: collection)
    }

    /// Returns the components of a path in the notation of job files or of `diff`, such as `pets[].toy`, `pets.[].toy`,
    /// `map{}` or `"a.b".c`.
    static func names(of path: Substring) -> [String] {
        var (names, rest): ([String], Substring) = ([], path)
        while !rest.isEmpty {
            if rest.hasPrefix("[]") || rest.hasPrefix("{}") {
                names.append(FieldPath.each)
                rest = rest.dropFirst(2)
            } else if rest.first == "\"", let end = rest.dropFirst().firstIndex(of: "\"") {
                names.append(String(rest[rest.index(after: rest.startIndex)..<end]))
                rest = rest[rest.index(after: end)...]
            } else {
                let name = rest.prefix { $0 != "." && $0 != "[" && $0 != "{" }
                names.append(String(name))
                rest = name.isEmpty ? rest.dropFirst() : rest.dropFirst(name.count)
            }
            if rest.first == "." { rest = rest.dropFirst() }
        }
        return names
    }

    private func place(of names: [String], in collection: CollectionSchema) throws(PlanError) -> Place {
        var (path, node, isRequired) = (SchemaPath(), collection.root, false)
        for name in names {
            if name == FieldPath.each {
                if case .each(let element)? = node.items {
                    (path, node, isRequired) = (path.appending(.elements), element, false)
                    continue
                }
                if let value = node.dictionaryValue {
                    (path, node, isRequired) = (path.appending(.values), value, false)
                    continue
                }
            }
            guard let next = node.property(name) else {
                let elements: SchemaNode? = if case .each(let node)? = node.items { node } else { node.dictionaryValue }
                let hint =
                    elements?.property(name) == nil
                    ? Spelling.hint(for: name, among: node.properties.map(\.name)).map { " (\($0))" } ?? ""
                    : " (did you mean \"\(path)[].\(name)\"?)"
                throw error("\(path.isRoot ? "\(collection.namespace)" : "\(path)") has no property \"\(name)\"\(hint)")
            }
            isRequired = node.requires(name)
            (path, node) = (path.appending(.field(name)), next)
        }
        return Place(collection: collection, path: path, node: node, isRequired: isRequired)
    }

    func error(_ message: String) -> PlanError { PlanError("\(flag): \(message)") }
}
