import BSON
import ServerSchema

/// The keywords of one schema in the imported file, with their values.
struct KeywordValues {
    /// The position where the schema begins.
    let location: SourceLocation
    /// The keywords in the file's order.
    let members: [LocatedJSON.Member]

    /// Collects the keywords of a schema.
    /// - Throws: ``SchemaError`` for a keyword that is given twice.
    init(_ members: [LocatedJSON.Member], at location: SourceLocation) throws(SchemaError) {
        (self.members, self.location) = (members, location)
        try Self.requireDistinctNames(members)
    }

    private static func requireDistinctNames(_ members: [LocatedJSON.Member]) throws(SchemaError) {
        var seen: Set<String> = []
        for member in members where !seen.insert(member.name).inserted {
            throw SchemaError(
                .duplicate, at: member.nameLocation, "\"\(member.name)\" is given twice", remedy: "remove one")
        }
    }

    /// The value of a keyword; `nil` if it is absent.
    subscript(keyword: String) -> LocatedJSON? { members.first { $0.name == keyword }?.value }

    /// Whether one of the keywords is present.
    func hasAny(of keywords: String...) -> Bool { members.contains { keywords.contains($0.name) } }

    func present(_ keywords: String...) -> [(keyword: String, json: LocatedJSON)] {
        keywords.compactMap { keyword in self[keyword].map { (keyword, $0) } }
    }
}

extension KeywordValues {
    /// Returns the text of a keyword; `nil` if it is absent.
    /// - Throws: ``SchemaError`` if the value is not a string.
    func text(_ keyword: String) throws(SchemaError) -> String? {
        guard let json = self[keyword] else { return nil }
        guard let text = json.text else { throw Self.wrong(keyword, json, "a string") }
        return text
    }

    /// Returns the Boolean of a keyword; `nil` if it is absent.
    /// - Throws: ``SchemaError`` if the value is not a Boolean.
    func flag(_ keyword: String) throws(SchemaError) -> Bool? {
        guard let json = self[keyword] else { return nil }
        guard case .scalar(.bool(let flag)) = json.value else { throw Self.wrong(keyword, json, "true or false") }
        return flag
    }

    /// Returns the count that a keyword states; `nil` if it is absent.
    /// - Throws: ``SchemaError`` if the value is not a whole number from 0 on.
    func count(_ keyword: String) throws(SchemaError) -> Int? {
        guard let json = self[keyword] else { return nil }
        guard let count = json.integer, count >= 0 else { throw Self.wrong(keyword, json, "a whole number from 0 on") }
        return count
    }

    /// Returns the number of a keyword; `nil` if it is absent.
    /// - Throws: ``SchemaError`` if the value is not a number.
    func number(_ keyword: String) throws(SchemaError) -> BSONValue? {
        guard let json = self[keyword] else { return nil }
        let value = try LocatedBSON(json).bson
        guard BSONNumber(value) != nil else { throw Self.wrong(keyword, json, "a number") }
        return value
    }

    /// Returns the members of the object that is a keyword's value; `nil` if the keyword is absent.
    /// - Throws: ``SchemaError`` if the value is not an object, or has a name twice.
    func members(of keyword: String) throws(SchemaError) -> [LocatedJSON.Member]? {
        guard let json = self[keyword] else { return nil }
        guard let members = json.members else { throw Self.wrong(keyword, json, "an object") }
        try Self.requireDistinctNames(members)
        return members
    }

    /// Returns the schemas that a keyword lists; `nil` if it is absent.
    /// - Throws: ``SchemaError`` if the value is not a list, or is an empty list.
    func branches(_ keyword: String) throws(SchemaError) -> [LocatedJSON]? {
        guard let json = self[keyword] else { return nil }
        guard let elements = json.elements, !elements.isEmpty else {
            throw Self.wrong(keyword, json, "a list of at least one schema")
        }
        return elements
    }

    /// Returns the texts that a value lists, each of them once.
    /// - Throws: ``SchemaError`` if the value is not a list of strings.
    static func names(_ json: LocatedJSON, of keyword: String) throws(SchemaError) -> [String] {
        guard let elements = json.elements else { throw wrong(keyword, json, "a list of names") }
        var names: [String] = []
        var seen: Set<String> = []
        for element in elements {
            guard let name = element.text else { throw wrong("an entry of \(keyword)", element, "a string") }
            if seen.insert(name).inserted { names.append(name) }
        }
        return names
    }

    static func wrong(_ keyword: String, _ json: LocatedJSON, _ expected: String) -> SchemaError {
        let found = json.elements.map(\.isEmpty) == true ? "an empty list" : json.kind
        return SchemaError(.wrongValue, at: json.location, "\(keyword) must be \(expected), not \(found)")
    }
}
