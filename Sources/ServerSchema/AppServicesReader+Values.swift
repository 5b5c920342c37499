internal import BSON

/// Reads the values of single keywords, such as a type or a list of names.
extension AppServicesReader {
    /// Reads the value of `bsonType` or `type`: the name of a type, or a list of such names.
    mutating func types(_ json: LocatedJSON, of keyword: Keyword) throws(SchemaError) -> [SchemaType] {
        if keyword == .type { note(.jsonTypeUsed, json.location, "type is kept for compatibility: write bsonType") }
        guard case .array(let entries) = json.value else { return [try type(json, of: keyword)] }
        guard !entries.isEmpty else { throw wrong(keyword, json, "at least one type") }
        var result: [SchemaType] = []
        for entry in entries {
            let type = try type(entry, of: keyword)
            guard !result.contains(type) else {
                throw SchemaError(
                    .duplicate, at: entry.location, "\(keyword.rawValue) lists \"\(type.rawValue)\" twice",
                    remedy: "remove one")
            }
            result.append(type)
        }
        return result
    }

    private mutating func type(_ json: LocatedJSON, of keyword: Keyword) throws(SchemaError) -> SchemaType {
        if case .scalar(.number(let code)) = json.value {
            throw SchemaError(
                .wrongValue, at: json.location, "\(keyword.rawValue) takes names, not the code \(code)",
                remedy: TypeAlias.remedy(code: code))
        }
        guard let name = json.text else { throw wrong(keyword, json, "a string or a list of strings") }
        guard let alias = keyword == .type ? TypeAlias(jsonType: name) : TypeAlias(bsonType: name) else {
            throw SchemaError(
                .unknownType, at: json.location, "unknown \(keyword.rawValue) \"\(name)\"",
                remedy: keyword == .type ? TypeAlias.remedy(jsonType: name) : TypeAlias.remedy(bsonType: name))
        }
        if let message = alias.note { note(.typeSpelling, json.location, message) }
        return alias.type
    }

    /// Reads a list of names; throws an error if a name occurs twice.
    func names(_ json: LocatedJSON, of keyword: Keyword) throws(SchemaError) -> [String] {
        guard json.elements != nil else {
            var error = wrong(keyword, json, "a list of strings")
            if case .scalar(.bool) = json.value { error = error.advising("list the field in the object around it") }
            throw error
        }
        return try LocatedBSON(json).names(of: keyword.rawValue)
    }

    /// Throws an error for the first name that occurs twice.
    ///
    /// If `notesErrors` is `true`, adds a note for each repeated name instead.
    mutating func refuseDuplicates(_ members: [LocatedJSON.Member], what: String) throws(SchemaError) {
        var seen: [String: SourceLocation] = [:]
        for member in members {
            guard let first = seen.updateValue(member.nameLocation, forKey: member.name) else { continue }
            try note(
                SchemaError(
                    .duplicate, at: member.nameLocation, "\(what) \"\(member.name)\" is given twice",
                    remedy: "the first is in line \(first.line)"))
        }
    }

    /// Returns the error for a keyword whose value is of the wrong kind.
    func wrong(_ keyword: Keyword, _ json: LocatedJSON, _ expected: String) -> SchemaError {
        let found =
            switch json.value {
            case .array(let entries) where entries.isEmpty: "an empty array"
            case .scalar(.number(let text)): "the number \(text)"
            default: json.kind
            }
        return SchemaError(.wrongValue, at: json.location, "\(keyword.rawValue) must be \(expected), not \(found)")
    }
}

extension SchemaError {
    /// Returns a copy of the error with `remedy` in place of the error's own remedy.
    func advising(_ remedy: String) -> SchemaError { SchemaError(code, at: location, message, remedy: remedy) }
}

/// Turns the JSON of a `default` into the BSON value that clients see.
///
/// The JSON may be plain or extended. A plain number takes the declared type if that is the single type `long`,
/// `double` or `decimal`, because plain JSON has only one numeric type.
struct DefaultValue {
    /// The types that the schema allows for the property to which the default belongs.
    let types: [SchemaType]

    /// Returns the BSON value, including nested values.
    /// - Throws: ``SchemaError`` for extended JSON, such as `{"$oid": …}`, whose value does not fit its type, or for a
    ///   name that contains a NUL.
    func value(_ json: LocatedJSON) throws(SchemaError) -> BSONValue {
        if case .scalar(.number(let text)) = json.value, let number = number(text) { return number }
        return try LocatedBSON(json).bson
    }

    private func number(_ text: String) -> BSONValue? {
        switch types {
        case [.long]: Int64(text).map { .long($0) }
        case [.double]: Double(text).map { .double($0) }
        case [.decimal]: Decimal128(text).map { .decimal($0) }
        default: nil
        }
    }
}
