internal import BSON

/// The values of single keywords.
extension JSONSchemaReader {
    func text(_ json: LocatedBSON, of keyword: Keyword) throws(SchemaError) -> String {
        guard let text = json.text else { throw wrong(keyword, json, "a string") }
        return text
    }

    func flag(_ json: LocatedBSON, of keyword: Keyword) throws(SchemaError) -> Bool {
        guard case .scalar(.bool(let flag)) = json.value else { throw wrong(keyword, json, "a boolean") }
        return flag
    }

    /// Reads a bound of values: a number of any type.
    func number(_ json: LocatedBSON, of keyword: Keyword) throws(SchemaError) -> BSONValue {
        guard case .scalar(let value) = json.value, BSONNumber(value) != nil else {
            throw wrong(keyword, json, "a number")
        }
        return value
    }

    /// Reads a count: a number of any type that is an integer of 64 bits and not negative.
    func count(_ json: LocatedBSON, of keyword: Keyword) throws(SchemaError) -> Int64 {
        guard case .scalar(let value) = json.value, let number = BSONNumber(value),
            let count = number.exactInteger, count >= 0
        else { throw wrong(keyword, json, "a whole number from 0 on") }
        return count
    }

    /// Reads a list of names without repetition; mongod refuses an empty one.
    func names(_ json: LocatedBSON, of what: String) throws(SchemaError) -> [String] {
        guard let elements = json.elements, !elements.isEmpty else {
            throw SchemaError(
                .wrongValue, at: json.location,
                "\(what) must be a list of at least one field name, not \(json.elements == nil ? json.kind : "empty")",
                remedy: json.elements == nil ? nil : "remove it")
        }
        var names: [String] = []
        var seen: Set<String> = []
        for element in elements {
            guard let name = element.text else {
                throw SchemaError(
                    .wrongValue, at: element.location, "\(what) must list field names, not \(element.kind)")
            }
            guard seen.insert(name).inserted else {
                throw SchemaError(
                    .duplicate, at: element.location, "\(what) lists \"\(name)\" twice", remedy: "remove one")
            }
            names.append(name)
        }
        return names
    }

    /// The error for a keyword whose value is of the wrong kind.
    func wrong(_ keyword: Keyword, _ json: LocatedBSON, _ expected: String) -> SchemaError {
        SchemaError(.wrongValue, at: json.location, "\(keyword.rawValue) must be \(expected), not \(found(json))")
    }

    private func found(_ json: LocatedBSON) -> String {
        if let elements = json.elements, elements.isEmpty { return "an empty array" }
        if case .scalar(let value) = json.value, BSONNumber(value) != nil, let text = try? value.extendedJSON(.relaxed)
        {
            return text
        }
        return json.kind
    }
}

extension BSONNumber {
    /// The integer of 64 bits that the number is; `nil` when it is none.
    fileprivate var exactInteger: Int64? {
        switch self {
        case .integer(let value): value
        case .double(let value): Int64(exactly: value)
        case .decimal(let value): Int64(exactly: value)
        }
    }
}
