import BSON

/// Reads the values of the keywords that both formats of schemas have.
extension LocatedBSON {
    func text(of keyword: Keyword) throws(SchemaError) -> String {
        guard let text else { throw wrong(keyword, "a string") }
        return text
    }

    func flag(of keyword: Keyword) throws(SchemaError) -> Bool {
        guard case .scalar(.bool(let flag)) = value else { throw wrong(keyword, "a boolean") }
        return flag
    }

    /// Returns the value of a keyword that takes a number of any BSON type, such as `minimum`.
    func number(of keyword: Keyword) throws(SchemaError) -> BSONValue {
        guard case .scalar(let value) = self.value, BSONNumber(value) != nil else { throw wrong(keyword, "a number") }
        return value
    }

    /// Returns the names that a list has; throws an error if a name occurs twice.
    func names(of what: String) throws(SchemaError) -> [String] {
        var names: [String] = []
        var seen: Set<String> = []
        for element in elements ?? [] {
            guard let name = element.text else {
                throw SchemaError(.wrongValue, at: element.location, "\(what) must list strings, not \(element.kind)")
            }
            guard seen.insert(name).inserted else {
                throw SchemaError(
                    .duplicate, at: element.location, "\(what) lists \"\(name)\" twice", remedy: "remove one")
            }
            names.append(name)
        }
        return names
    }

    /// Returns the error for a keyword whose value is of the wrong kind.
    func wrong(_ keyword: Keyword, _ expected: String) -> SchemaError {
        var found = kind
        if let elements, elements.isEmpty { found = "an empty array" }
        if case .scalar(let number) = value, BSONNumber(number) != nil, let text = try? number.extendedJSON(.relaxed) {
            found = "the number \(text)"
        }
        return SchemaError(.wrongValue, at: location, "\(keyword.rawValue) must be \(expected), not \(found)")
    }
}
