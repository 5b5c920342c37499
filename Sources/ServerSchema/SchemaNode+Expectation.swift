extension SchemaNode {
    /// What the schema wants, in words that name types.
    package func expectation(asRoot: Bool = false) -> String {
        if asRoot { return "object" }
        guard !types.isEmpty else { return "any value" }
        return types.map(expectation).joined(separator: " or ")
    }

    private func expectation(_ type: SchemaType) -> String {
        switch type {
        case .array:
            let name = uniqueItems ? "set" : "list"
            guard case .each(let element) = items else { return "array" }
            return "\(name) of \(element.expectation())"
        case .object:
            if !isDictionary { return title.map { "embedded \($0)" } ?? "embedded object" }
            guard case .schema(let value) = additionalProperties else { return "dictionary" }
            return "dictionary of \(value.expectation())"
        default: return type.rawValue
        }
    }
}
