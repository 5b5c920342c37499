import ServerSchema

/// Reads paths as operators write them: names separated by dots; a name that contains dots is in quotation marks.
///
/// Operators may leave out `[]` and `{}`, because the schema shows which of the two is meant.
enum RenamePath {
    static func names(_ text: String) -> [String]? {
        var names: [String] = []
        var rest = Substring(text)
        while true {
            let name: Substring
            if rest.first == "\"" {
                rest = rest.dropFirst()
                guard let end = rest.firstIndex(of: "\"") else { return nil }
                name = rest[..<end]
                rest = rest[rest.index(after: end)...]
            } else {
                name = rest.prefix { !".[{".contains($0) }
                rest = rest[name.endIndex...]
            }
            guard !name.isEmpty else { return nil }
            names.append(String(name))
            while rest.hasPrefix("[]") || rest.hasPrefix("{}") { rest = rest.dropFirst(2) }
            if rest.isEmpty { return names }
            guard rest.first == "." else { return nil }
            rest = rest.dropFirst()
        }
    }

    /// Returns the path to which the names lead from `root`; or the first missing name, with the object that lacks it.
    static func resolve(_ names: [String], below root: SchemaNode) -> Result {
        var (path, node) = (SchemaPath(), root)
        for name in names {
            (path, node) = entering(path, node)
            guard let next = node.property(name) else {
                return .missing(name, in: path, known: node.properties.map(\.name))
            }
            (path, node) = (path.appending(.field(name)), next)
        }
        return .found(path)
    }

    enum Result {
        case found(SchemaPath)
        case missing(String, in: SchemaPath, known: [String])
    }

    /// Extends a path to the elements or values of the node that it leads to, and further through nested arrays and
    /// dictionaries.
    private static func entering(_ path: SchemaPath, _ node: SchemaNode) -> (SchemaPath, SchemaNode) {
        if case .each(let element) = node.items { return entering(path.appending(.elements), element) }
        guard let value = node.dictionaryValue else { return (path, node) }
        return entering(path.appending(.values), value)
    }
}
