import LocatedYAML
import ServerSchema

/// A file with schemas: a JSON Schema, an OpenAPI document, or a collection of schemas by name.
struct SourceDocument {
    /// The whole file.
    let root: LocatedJSON
    /// The version of JSON Schema that the file is written in.
    let draft: Draft
    /// The members of the file's first container of schemas that is not empty, such as `$defs`, in the file's order.
    let named: [LocatedJSON.Member]
    /// The parts of the file that have a `$id`, an `id` or an anchor; the key is this identifier or, for an anchor, the
    /// anchor after a `#`.
    private let identified: [String: LocatedJSON]
    /// The keys of ``identified`` with their bytes in reverse order, sorted by these bytes.
    private let reversed: [(bytes: [UInt8], name: String)]
    private let members = MemberIndex()

    /// Reads the text of a file.
    /// - Throws: ``SchemaError`` if the text is not valid JSON or YAML, is not an object, or is a MongoDB validator
    ///   already.
    init(text: String, named name: String) throws(SchemaError) {
        let isYAML = name.hasSuffix(".yml") || name.hasSuffix(".yaml")
        root = isYAML ? try Self.yaml(text, name) : try JSONParser.parse(Array(text.utf8), file: name)
        guard root.members != nil else {
            throw SchemaError(.wrongValue, at: root.location, "a schema must be an object, not \(root.kind)")
        }
        guard root["$jsonSchema"] == nil else {
            throw SchemaError(
                .unsupported, at: root.location, "this is a MongoDB validator already",
                remedy: "check, diff and lint take the file as it is")
        }
        draft = Draft(root)
        let collections = [root["components"]?["schemas"], root["$defs"], root["definitions"], root["schemas"]]
        named = collections.compactMap { $0?.members }.first { !$0.isEmpty } ?? []
        var identified: [String: LocatedJSON] = [:]
        Self.identify(root, into: &identified)
        self.identified = identified
        reversed = identified.keys.map { ($0.utf8.reversed(), $0) }
            .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    }

    private static func yaml(_ text: String, _ name: String) throws(SchemaError) -> LocatedJSON {
        let node: YAMLNode
        do throws(LocatedError) {
            node = try YAMLFile.root(of: text, path: name)
        } catch {
            throw SchemaError(.syntax, at: error.location ?? SourceLocation(whole: name), error.message)
        }
        return try LocatedJSON(node)
    }

    private static func identify(_ json: LocatedJSON, into found: inout [String: LocatedJSON]) {
        if let members = json.members {
            for keyword in ["$id", "id"] {
                if let name = json[keyword]?.text, found[name] == nil { found[name] = json }
            }
            for keyword in ["$anchor", "$dynamicAnchor"] {
                if let anchor = json[keyword]?.text, found["#\(anchor)"] == nil { found["#\(anchor)"] = json }
            }
            for member in members { identify(member.value, into: &found) }
        }
        for element in json.elements ?? [] { identify(element, into: &found) }
    }
}

/// Chooses the schema to import.
extension SourceDocument {
    /// Returns the schema with the given name.
    ///
    /// If `name` is `nil`, returns the whole file or, if the file as a whole is not a schema, the only schema in
    /// ``named``.
    /// - Throws: ``SchemaError`` if there is no such schema, or if there are several and no name is given.
    func choose(_ name: String?) throws(SchemaError) -> (name: String?, schema: LocatedJSON) {
        let names = named.map(\.name)
        if let name {
            if let member = named.first(where: { $0.name == name }) { return (name, member.value) }
            throw SchemaError(
                .schemaMissing, at: root.location, "there is no schema \"\(name)\" here",
                remedy: Spelling.hint(for: name, among: names) ?? Self.list(names))
        }
        if isSchema { return (root["title"]?.text, root) }
        guard let first = named.first else {
            throw SchemaError(
                .schemaMissing, at: root.location, "the file holds no schema",
                remedy: "an OpenAPI document has them in components.schemas")
        }
        guard named.count == 1 else {
            throw SchemaError(
                .schemaMissing, at: root.location, "the file holds \(names.count) schemas",
                remedy: "choose one with --schema: \(names.joined(separator: ", "))")
        }
        return (first.name, first.value)
    }

    private static func list(_ names: [String]) -> String {
        names.isEmpty ? "the schemas of this file have no names" : "there are \(names.joined(separator: ", "))"
    }

    private var isSchema: Bool {
        let ofContainers: Set = [
            "$schema", "$id", "id", "$comment", "title", "description", "$defs", "definitions", "schemas",
        ]
        guard root["openapi"] == nil, root["swagger"] == nil else { return false }
        return named.isEmpty || (root.members ?? []).contains { !ofContainers.contains($0.name) }
    }
}

/// Resolves references.
extension SourceDocument {
    /// Returns the part of the file that a reference names.
    /// - Parameter resource: the innermost part of the file that contains the reference and has a `$id`, or else the
    ///   root. A reference that is only a JSON pointer is followed from this part or, if it leads to nothing, from the
    ///   root.
    /// - Throws: ``SchemaError`` if the reference is not a string, or leads to another file or to nothing.
    func target(of reference: LocatedJSON, in resource: LocatedJSON) throws(SchemaError) -> LocatedJSON {
        guard let text = reference.text else {
            throw SchemaError(.wrongValue, at: reference.location, "$ref must be a string, not \(reference.kind)")
        }
        if let target = identified[text] { return target }
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let fragment = parts.count > 1 ? parts[1] : ""
        if !fragment.isEmpty, !fragment.hasPrefix("/"), let target = identified["#\(fragment)"] { return target }
        let starts = parts[0].isEmpty ? [resource, root] : identifiedParts(parts[0])
        guard !starts.isEmpty else {
            throw SchemaError(
                .unsupported, at: reference.location, "the reference \"\(text)\" leads out of this file",
                remedy: "bundle the schemas into one file first")
        }
        if let target = starts.lazy.compactMap({ follow(fragment, from: $0) }).first { return target }
        throw SchemaError(
            .schemaMissing, at: reference.location, "the reference \"\(text)\" leads to nothing",
            remedy: Spelling.hint(for: text, among: named.lazy.map { pointer(to: $0.name) }))
    }

    /// Returns the parts of the file with this identifier; empty if there is none.
    ///
    /// If no part has exactly the identifier `name`, it is taken as a relative reference: a part matches if its
    /// identifier ends in a slash and `name` without leading dots and slashes.
    private func identifiedParts(_ name: String) -> [LocatedJSON] {
        if let part = identified[name] { return [part] }
        let end = Array(("/" + name.drop { $0 == "." || $0 == "/" }).utf8.reversed())
        var (low, high) = (0, reversed.count)
        while low < high {
            let middle = (low + high) / 2
            if reversed[middle].bytes.lexicographicallyPrecedes(end) { low = middle + 1 } else { high = middle }
        }
        let matches = reversed[low...].prefix(Self.mostAlike).prefix { $0.bytes.starts(with: end) }
        return matches.map(\.name).sorted().compactMap { identified[$0] }
    }

    /// The number of identifiers that are compared with a relative reference.
    private static let mostAlike = 100

    /// Returns a reference to a named schema, such as `#/$defs/NAME`, for the hint in an error message.
    private func pointer(to name: String) -> String {
        let folder = root["components"] != nil ? "components/schemas" : root["$defs"] != nil ? "$defs" : "definitions"
        return "#/\(folder)/\(name)"
    }

    /// Follows a JSON pointer (RFC 6901); returns `nil` if it leads to nothing.
    private func follow(_ fragment: String, from start: LocatedJSON) -> LocatedJSON? {
        guard !fragment.isEmpty else { return start }
        guard fragment.hasPrefix("/") else { return nil }
        var json = start
        for step in fragment.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            let name = Self.decoded(step)
            guard let next = members.value(of: name, in: json) ?? Int(name).flatMap({ json.elements?.element(at: $0) })
            else { return nil }
            json = next
        }
        return json
    }

    /// Returns a step of a pointer with its escapes decoded: percent escapes such as `%25` first, then `~1` and `~0`.
    private static func decoded(_ step: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(step.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(code)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.split(separator: "~1", omittingEmptySubsequences: false).joined(separator: "/")
            .split(separator: "~0", omittingEmptySubsequences: false).joined(separator: "~")
    }
}

/// Finds members of large objects by their names; each object is searched through only once.
private final class MemberIndex {
    private var indexes: [SourceLocation: NameIndex] = [:]

    /// Returns the value of the first member with a name; `nil` if there is none.
    func value(of name: String, in json: LocatedJSON) -> LocatedJSON? {
        guard let members = json.members, let index = indexes[json.location] ?? NameIndex(count: members.count)
        else { return json[name] }
        indexes[json.location] = index
        return index.position(of: name, among: members.lazy.map(\.name)).map { members[$0].value }
    }
}

extension Array {
    fileprivate func element(at index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
