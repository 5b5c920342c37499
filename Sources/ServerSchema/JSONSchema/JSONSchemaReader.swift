internal import BSON

/// Reads schemas of MongoDB's own `$jsonSchema` dialect, and refuses what mongod refuses.
///
/// Source: mongod 6.0's schema parser, asked; `semantics.md` section 3 of the project's reference. Every subschema is
/// read, reached or not. A schema that judges a document as a whole (the root, what `allOf` and its like combine there,
/// and oddly the schema of a property named "") ignores the keywords of scalars and arrays: mongod does not even
/// compile their patterns.
struct JSONSchemaReader {
    /// Takes what mongod refuses, which is left out then; `nil` where it ends the reading.
    var failures: SchemaFailures?

    /// Reads the value of `$jsonSchema`.
    /// - Throws: ``SchemaError`` where mongod refuses the schema.
    func root(_ value: LocatedBSON) throws(SchemaError) -> SchemaNode {
        guard value.members != nil else {
            throw SchemaError(.wrongValue, at: value.location, "a schema must be an object, not \(value.kind)")
        }
        return try node(value, isWhole: true)
    }

    /// - Parameter isWhole: whether the schema judges a document as a whole.
    func node(_ value: LocatedBSON, isWhole: Bool) throws(SchemaError) -> SchemaNode {
        let keywords = try KeywordTable(value, failures)
        var node = SchemaNode(location: value.location)
        try attempt { () throws(SchemaError) in
            node.title = try keywords[.title].map { json throws(SchemaError) -> String in try text(json, of: .title) }
        }
        try attempt { () throws(SchemaError) in
            if let description = keywords[.description] { _ = try text(description, of: .description) }
        }
        try attempt { () throws(SchemaError) in try readTypes(keywords, into: &node) }
        try attempt { () throws(SchemaError) in try readScalars(keywords, into: &node, isWhole: isWhole) }
        try attempt { () throws(SchemaError) in try readArrays(keywords, into: &node) }
        try attempt { () throws(SchemaError) in try readEncryption(keywords, into: &node) }
        try attempt { () throws(SchemaError) in try readObjects(keywords, into: &node, isWhole: isWhole) }
        try attempt { () throws(SchemaError) in try readCombinations(keywords, into: &node, isWhole: isWhole) }
        return node
    }

    /// Reads a part of a schema, or has its failure taken.
    func attempt(_ read: () throws(SchemaError) -> Void) throws(SchemaError) {
        do throws(SchemaError) { try read() } catch {
            guard let failures else { throw error }
            failures.all.append(error)
        }
    }

    /// Reads a subschema that a keyword holds; its value must be an object.
    func subschema(_ value: LocatedBSON, of what: String, isWhole: Bool) throws(SchemaError) -> SchemaNode {
        guard value.members != nil else {
            throw SchemaError(.wrongValue, at: value.location, "\(what) must be a schema, not \(value.kind)")
        }
        return try node(value, isWhole: isWhole)
    }
}

/// The errors that keep a schema from being read as a whole.
final class SchemaFailures {
    var all: [SchemaError] = []
}

/// The keywords of one schema, each at most once.
struct KeywordTable {
    private var values: [Keyword: LocatedBSON] = [:]

    /// - Throws: ``SchemaError`` for a keyword that mongod does not know, or that is given twice, unless `failures`
    ///   takes it.
    init(_ schema: LocatedBSON, _ failures: SchemaFailures?) throws(SchemaError) {
        for member in schema.members ?? [] {
            guard let error = take(member) else { continue }
            guard let failures else { throw error }
            failures.all.append(error)
        }
    }

    private mutating func take(_ member: LocatedBSON.Member) -> SchemaError? {
        guard let keyword = Keyword(rawValue: member.name), keyword.isOfJSONSchema else { return Self.unknown(member) }
        guard values.updateValue(member.value, forKey: keyword) != nil else { return nil }
        return SchemaError(
            .duplicate, at: member.nameLocation, "keyword \"\(member.name)\" is given twice", remedy: "remove one")
    }

    subscript(keyword: Keyword) -> LocatedBSON? { values[keyword] }

    private static func unknown(_ member: LocatedBSON.Member) -> SchemaError {
        if let keyword = Keyword(rawValue: member.name) {
            return SchemaError(
                .unsupported, at: member.nameLocation, "MongoDB's $jsonSchema does not support \"\(member.name)\"",
                remedy: keyword.isDocumented ? "it is a keyword of App Services" : "remove it")
        }
        let known = Keyword.allCases.filter(\.isOfJSONSchema).map(\.rawValue)
        return SchemaError(
            .unknownKeyword, at: member.nameLocation, "unknown $jsonSchema keyword \"\(member.name)\"",
            remedy: Spelling.hint(for: member.name, among: known) ?? "mongod refuses the whole schema: remove it")
    }
}
