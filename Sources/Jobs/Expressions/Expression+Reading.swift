import BSON

/// The fields, operators and times that an expression reads.
extension Expression {
    /// The first name of each path in the expression, such as `a` for `$a.b` and for `$$ROOT.a.b`.
    ///
    /// The name is a top-level field, or a field of the element if the expression is evaluated for each element of a
    /// list or dictionary.
    package var fields: [String] { Self.fields(bson) }

    private static func fields(_ value: BSONValue) -> [String] {
        switch value {
        case .string(let text) where text.hasPrefix("$"):
            let names = text.drop { $0 == "$" }.split(separator: ".").map(String.init)
            guard text.hasPrefix("$$") else { return Array(names.prefix(1)) }
            return ["ROOT", "CURRENT"].contains(names.first) ? Array(names.dropFirst().prefix(1)) : []
        case .object(let document):
            return ((try? document.elements()) ?? []).flatMap { name, value -> [String] in
                switch name {
                case "$literal": return []
                case "$getField":
                    return fields(value) + [value.text ?? value.document?["field"]?.text].compactMap(\.self)
                default: return fields(value)
                }
            }
        case .array(let document): return ((try? document.elements()) ?? []).flatMap { fields($0.value) }
        default: return []
        }
    }

    /// Returns the expression with the time `now`, in milliseconds since 1970, in place of `$$NOW`.
    func resolved(at now: Int64) -> Expression { Expression(Self.resolved(bson, at: now)) }

    private static func resolved(_ value: BSONValue, at now: Int64) -> BSONValue {
        switch value {
        case .string("$$NOW"): return .date(milliseconds: now)
        case .object(let document):
            let elements = (try? document.elements()) ?? []
            return .object(BSONDocument(elements.map { ($0, $0 == "$literal" ? $1 : resolved($1, at: now)) }))
        case .array(let document):
            return .array(of: ((try? document.elements()) ?? []).map { resolved($0.1, at: now) })
        default: return value
        }
    }

    /// The names of the operators in the expression, except for those inside a `$literal`, which are data.
    var operators: Set<String> { Self.operators(bson) }

    private static func operators(_ value: BSONValue) -> Set<String> {
        guard let document = value.document else { return [] }
        var names: Set<String> = []
        for (name, inner) in (try? document.elements()) ?? [] {
            if name.hasPrefix("$") { names.insert(name) }
            if name != "$literal" { names.formUnion(operators(inner)) }
        }
        return names
    }
}
