/// A JSON value with its position in a file.
package typealias LocatedJSON = Located<JSONScalar>

/// A JSON value that is neither an array nor an object.
package enum JSONScalar: Sendable {
    case null
    case bool(Bool)
    /// The number as the file spells it.
    case number(String)
    case string(String)
}

extension LocatedJSON {
    /// The kind of value, with its article, for messages.
    package var kind: String {
        switch value {
        case .scalar(.null): "null"
        case .scalar(.bool): "a boolean"
        case .scalar(.number): "a number"
        case .scalar(.string): "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }

    /// The text of a string; `nil` for any other value.
    package var text: String? {
        if case .scalar(.string(let text)) = value { text } else { nil }
    }
}

/// Reads the values of keys that may be missing or null in configuration files.
extension LocatedJSON {
    var isNull: Bool { if case .scalar(.null) = value { true } else { false } }

    /// Returns the value of a key; `nil` if the key is absent or its value is null.
    func present(_ key: String) -> LocatedJSON? {
        guard let json = self[key], !json.isNull else { return nil }
        return json
    }

    /// Returns the string value of a key; `nil` if the key is absent, or if its value is null or empty.
    /// - Throws: ``SchemaError`` when the value is not a string.
    func string(_ key: String) throws(SchemaError) -> String? {
        guard let json = present(key) else { return nil }
        guard let text = json.text else {
            throw SchemaError(.wrongValue, at: json.location, "\(key) must be a string, not \(json.kind)")
        }
        return text.isEmpty ? nil : text
    }

    /// Returns the Boolean value of a key; `false` if the key is absent or its value is null.
    /// - Throws: ``SchemaError`` when the value is not a Boolean.
    func flag(_ key: String) throws(SchemaError) -> Bool {
        guard let json = present(key) else { return false }
        guard case .scalar(.bool(let flag)) = json.value else {
            throw SchemaError(.wrongValue, at: json.location, "\(key) must be true or false, not \(json.kind)")
        }
        return flag
    }

    /// The value as a whole number, plain or in a wrapper of extended JSON; `nil` for any other value.
    package var integer: Int? {
        if case .scalar(.number(let text)) = value { return Int(text) ?? Double(text).flatMap { Int(exactly: $0) } }
        return (self["$numberInt"] ?? self["$numberLong"])?.text.flatMap { Int($0) }
    }
}

extension LocatedJSON {
    /// Refuses a file whose schemas have more than ``SchemaNode/mostFields`` fields, before they are read.
    func limitFields() throws(SchemaError) {
        var count = 0
        try countFields(&count)
    }

    private func countFields(_ count: inout Int) throws(SchemaError) {
        for element in elements ?? [] { try element.countFields(&count) }
        for member in members ?? [] {
            if member.name == "properties" { count += member.value.members?.count ?? 0 }
            guard count <= SchemaNode.mostFields else {
                throw SchemaError(
                    .tooLarge, at: member.nameLocation, "the file has more than \(SchemaNode.mostFields) fields",
                    remedy: "divide it")
            }
            try member.value.countFields(&count)
        }
    }
}
