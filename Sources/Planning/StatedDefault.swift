import BSON
import Checking
import Jobs
import ServerSchema

/// A value that the operator states for a field on the command line, such as `Person.email=""`.
package struct StatedDefault: Hashable, Sendable {
    /// The text that the operator wrote.
    package let text: String
    /// The field's path, which begins with the title of its type or the name of its collection.
    let field: String
    /// The value as JSON or extended JSON; a text may lack its quotation marks.
    let value: String

    /// Reads `TYPE.field=VALUE`; `nil` for any other text.
    package init?(_ text: String) {
        guard let sign = text.firstIndex(of: "=") else { return nil }
        (self.text, field, value) = (text, String(text[..<sign]), String(text[text.index(after: sign)...]))
        guard !field.isEmpty, field.first != ".", field.last != "." else { return nil }
    }
}

extension StatedDefault {
    /// The field that a value is stated for, as the newer schema describes it.
    struct Place {
        let collection: CollectionSchema
        let path: SchemaPath
        let node: SchemaNode
        let isRequired: Bool
    }

    /// Finds the field that the operator named in the newer schema.
    /// - Throws: ``PlanError`` when the name matches no collection, several collections, no field of a collection, or
    ///   an `_id`.
    func place(in schema: ServerSchema) throws(PlanError) -> Place {
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
            let name = field.prefix { $0 != "." }
            let hint = Spelling.hint(for: String(name), among: names).map { " (\($0))" } ?? ""
            throw error("the newer schema has no such type or collection\(hint)")
        }
        var meant = owners.filter { $0.1.count == longest }
        meant =
            meant.filter { entry in entry.0.namespace == meant[0].0.namespace }.count == meant.count
            ? [meant[0]] : meant
        guard meant.count == 1 else {
            throw error("several collections have that name: name it as DATABASE.COLLECTION")
        }
        let (collection, name) = meant[0]
        return try place(of: Self.names(of: field.dropFirst(name.count + 1)), in: collection)
    }

    /// Returns the components of a path as job files and `diff` write it: `pets[].toy`, `pets.[].toy`, `map{}`,
    /// `"a.b".c`.
    private static func names(of path: Substring) -> [String] {
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
        if names.first == "_id" { throw error("every document has an _id, which never changes: no default fills it") }
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

    /// Returns the stated value, converted to the field's type.
    /// - Throws: ``PlanError`` when the value has another type, or does not fit the field's schema.
    func value(for place: Place) throws(PlanError) -> StepLine.Value {
        let types = place.node.types.filter { $0 != .null }
        if value == "$now", types.isEmpty || types == [.date] || types == [.mixed] { return .verbatim("$now") }
        let isText = types == [.string]
        // A shell removes the quotation marks, so a value that is not JSON can only be meant as a text.
        guard let read = value.isEmpty ? nil : try? BSONValue(extendedJSON: value) else {
            guard isText else { throw error("\"\(value)\" is not JSON, and the newer schema declares \(words(types))") }
            return .literal(.string(value))
        }
        guard let fitted = types.count == 1 ? read.fitted(to: types[0]) : read else {
            let remedy = isText ? ": write --default '\(field)=\(value.quotedAsJSON)'" : ""
            throw error("the value has type \(read.type), and the newer schema declares \(words(types))\(remedy)")
        }
        guard place.node.takes(fitted, in: place.collection.dialect) else {
            throw error("the value does not fit the newer schema at \(place.path)")
        }
        return .literal(fitted.spelled(for: place.node))
    }

    private func words(_ types: [SchemaType]) -> String {
        types.isEmpty ? "any type" : types.map(\.rawValue).joined(separator: " or ")
    }

    private func error(_ message: String) -> PlanError { PlanError("--default \(field)=…: \(message)") }
}
