internal import BSON

/// Reads schemas of MongoDB's own `$jsonSchema` dialect, and refuses the schemas that mongod refuses.
///
/// The reader checks every subschema, even if it can never apply to a value. Three kinds of schema describe an
/// object as a whole: the root, the schemas that keywords such as `allOf` combine at the root, and the schema of a
/// property named "". In these schemas, mongod ignores the keywords for scalars and arrays, and does not even compile
/// the regular expression of `pattern`. Source: answers of mongod 6.0's schema parser; `semantics.md` section 3 of the
/// project's reference.
struct JSONSchemaReader {
    /// The collector of errors; `nil` to throw the first error.
    ///
    /// With a collector, the reader leaves out each part that mongod refuses, and continues.
    var failures: SchemaFailures?
    /// The number of schemas that contain the schema that is read next.
    private var level = 0

    init(failures: SchemaFailures? = nil) { self.failures = failures }

    /// Reads the value of `$jsonSchema`, and returns the schema of whole documents.
    /// - Throws: ``SchemaError`` if mongod would refuse the schema, unless ``failures`` collects the error.
    func root(_ value: LocatedBSON) throws(SchemaError) -> SchemaNode {
        guard value.members != nil else {
            throw SchemaError(.wrongValue, at: value.location, "a schema must be an object, not \(value.kind)")
        }
        return try node(value, isWhole: true)
    }

    /// Reads one schema and all schemas inside it.
    /// - Parameter isWhole: whether the schema describes an object as a whole, as the root schema does.
    func node(_ value: LocatedBSON, isWhole: Bool) throws(SchemaError) -> SchemaNode {
        guard level < SchemaNode.maximumDepth else { throw .tooDeep(at: value.location) }
        var inside = self
        inside.level += 1
        return try inside.keywords(of: value, isWhole: isWhole)
    }

    private func keywords(of value: LocatedBSON, isWhole: Bool) throws(SchemaError) -> SchemaNode {
        let keywords = try KeywordTable(value, failures)
        var node = SchemaNode(location: value.location)
        try attempt { () throws(SchemaError) in
            node.title = try keywords[.title].map { json throws(SchemaError) -> String in try json.text(of: .title) }
        }
        try attempt { () throws(SchemaError) in
            node.deprecation = try keywords[.description].flatMap { json throws(SchemaError) -> Deprecation? in
                Deprecation(in: try json.text(of: .description))
            }
        }
        try attempt { () throws(SchemaError) in try readTypes(keywords, into: &node) }
        try attempt { () throws(SchemaError) in try readScalars(keywords, into: &node, isWhole: isWhole) }
        try attempt { () throws(SchemaError) in try readArrays(keywords, into: &node) }
        try attempt { () throws(SchemaError) in try readEncryption(keywords, into: &node) }
        try attempt { () throws(SchemaError) in try readObjects(keywords, into: &node, isWhole: isWhole) }
        try attempt { () throws(SchemaError) in try readCombinations(keywords, into: &node, isWhole: isWhole) }
        return node
    }

    /// Calls `read` for a part of a schema; adds its error to `failures`, or throws the error if `failures` is `nil`.
    func attempt(_ read: () throws(SchemaError) -> Void) throws(SchemaError) {
        do throws(SchemaError) { try read() } catch {
            guard let failures else { throw error }
            failures.all.append(error)
        }
    }

    /// Reads a schema inside another schema: the value of a keyword such as `not`, or one entry of a keyword such as
    /// `patternProperties`.
    /// - Throws: ``SchemaError`` if the value is not an object; also if mongod would refuse the schema, unless
    ///   ``failures`` collects the error.
    func subschema(_ value: LocatedBSON, of what: String, isWhole: Bool) throws(SchemaError) -> SchemaNode {
        guard value.members != nil else {
            throw SchemaError(.wrongValue, at: value.location, "\(what) must be a schema, not \(value.kind)")
        }
        return try node(value, isWhole: isWhole)
    }
}

/// A collector of the errors in a schema; a reader with a collector continues after an error.
final class SchemaFailures {
    var all: [SchemaError] = []
}

/// The keywords of one schema with their values; each keyword occurs at most once.
struct KeywordTable {
    private var values: [Keyword: LocatedBSON] = [:]

    /// Collects the keywords of `schema`.
    /// - Throws: ``SchemaError`` for a keyword that mongod does not know or that occurs twice, unless `failures`
    ///   collects the error.
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

/// Reads the keywords `type` and `bsonType`.
extension JSONSchemaReader {
    private func readTypes(_ keywords: KeywordTable, into node: inout SchemaNode) throws(SchemaError) {
        if let type = keywords[.type], keywords[.bsonType] != nil {
            throw SchemaError(
                .conflict, at: type.location, "type and bsonType exclude each other", remedy: "keep bsonType")
        }
        for keyword in [Keyword.type, .bsonType] {
            guard let json = keywords[keyword] else { continue }
            if keywords[.encrypt] != nil {
                throw SchemaError(
                    .conflict, at: json.location, "encrypt excludes \(keyword.rawValue): it demands binary data",
                    remedy: "remove \(keyword.rawValue)")
            }
            node.types = try types(json, of: keyword)
            guard !node.types.isEmpty else { throw json.wrong(keyword, "at least one type") }
        }
    }

    private func types(_ json: LocatedBSON, of keyword: Keyword) throws(SchemaError) -> [SchemaType] {
        if let name = json.text { return [try type(name, json, of: keyword)] }
        guard let elements = json.elements else { throw json.wrong(keyword, "a string or a list of strings") }
        var result: [SchemaType] = []
        for element in elements {
            guard let name = element.text else {
                throw SchemaError(
                    .wrongValue, at: element.location, "\(keyword.rawValue) must list type names, not \(element.kind)")
            }
            let type = try type(name, element, of: keyword)
            guard !result.contains(type) else {
                throw SchemaError(
                    .duplicate, at: element.location, "\(keyword.rawValue) lists \"\(name)\" twice",
                    remedy: "remove one")
            }
            result.append(type)
        }
        return result
    }

    private func type(_ name: String, _ json: LocatedBSON, of keyword: Keyword) throws(SchemaError) -> SchemaType {
        if keyword == .type {
            if let alias = TypeAlias(jsonType: name) { return alias.type }
        } else if let type = SchemaType(rawValue: name), type != .uuid, type != .mixed {
            return type
        }
        throw SchemaError(
            .unknownType, at: json.location, "unknown \(keyword.rawValue) \"\(name)\"",
            remedy: keyword == .type ? TypeAlias.remedy(jsonType: name) : Self.remedy(bsonType: name))
    }

    private static func remedy(bsonType name: String) -> String? {
        switch name {
        case "uuid": "that is a type of App Services: write \"binData\""
        case "mixed", "any": "leave bsonType out"
        default: TypeAlias.remedy(bsonType: name)
        }
    }
}

/// Reads the keywords `encrypt` and `encryptMetadata`.
extension JSONSchemaReader {
    private func readEncryption(_ keywords: KeywordTable, into node: inout SchemaNode) throws(SchemaError) {
        if let metadata = keywords[.encryptMetadata] {
            guard keywords[.encrypt] == nil else {
                throw SchemaError(
                    .conflict, at: metadata.location, "encrypt and encryptMetadata exclude each other",
                    remedy: "remove one")
            }
            guard let members = metadata.members, !members.isEmpty else {
                throw metadata.wrong(.encryptMetadata, "an object that is not empty")
            }
            try checkEncryption(members, of: .encryptMetadata, allowsType: false)
        }
        guard let encrypt = keywords[.encrypt] else { return }
        guard let members = encrypt.members else { throw encrypt.wrong(.encrypt, "an object") }
        try checkEncryption(members, of: .encrypt, allowsType: true)
        node.types = [.binData]
        node.constraints.encryption = Constraints.Encryption()
        guard let json = encrypt["bsonType"] else { return }
        node.constraints.encryption?.types = try types(json, of: .bsonType)
    }

    private func checkEncryption(
        _ members: [LocatedBSON.Member], of keyword: Keyword, allowsType: Bool
    ) throws(SchemaError) {
        var seen: Set<String> = []
        for member in members {
            guard seen.insert(member.name).inserted else {
                throw SchemaError(
                    .duplicate, at: member.nameLocation, "\(keyword.rawValue) has \"\(member.name)\" twice",
                    remedy: "remove one")
            }
            switch member.name {
            case "bsonType" where allowsType: break
            case "algorithm": try checkAlgorithm(member.value)
            case "keyId": try checkKey(member.value)
            default:
                throw SchemaError(
                    .unknownKeyword, at: member.nameLocation, "\(keyword.rawValue) has no key \"\(member.name)\"",
                    remedy: Spelling.hint(for: member.name, among: ["bsonType", "algorithm", "keyId"]))
            }
        }
    }

    private func checkAlgorithm(_ json: LocatedBSON) throws(SchemaError) {
        if case .scalar(.null) = json.value { return }
        let known = ["AEAD_AES_256_CBC_HMAC_SHA_512-Deterministic", "AEAD_AES_256_CBC_HMAC_SHA_512-Random"]
        guard let name = json.text, known.contains(name) else {
            throw SchemaError(
                .wrongValue, at: json.location, "this is not an encryption algorithm",
                remedy: "write one of \(known.joined(separator: ", "))")
        }
    }

    /// Checks the value of `keyId`: a JSON pointer to a field of the document, or a list of key ids, which are UUIDs.
    private func checkKey(_ json: LocatedBSON) throws(SchemaError) {
        if let elements = json.elements {
            for element in elements {
                guard case .scalar(.binary(subtype: 4, let bytes)) = element.value, bytes.count == 16 else {
                    throw SchemaError(.wrongValue, at: element.location, "a key's id must be a UUID")
                }
            }
            return
        }
        guard let pointer = json.text, pointer.hasPrefix("/"), Self.escapesAreValid(pointer) else {
            throw SchemaError(
                .wrongValue, at: json.location, "keyId must be a JSON pointer or a list of UUIDs",
                remedy: "a pointer begins with /, and spells ~ as ~0")
        }
    }

    private static func escapesAreValid(_ pointer: String) -> Bool {
        let bytes = Array(pointer.utf8)
        return bytes.indices.allSatisfy { index in
            guard bytes[index] == UInt8(ascii: "~") else { return true }
            return index + 1 < bytes.count
                && (bytes[index + 1] == UInt8(ascii: "0") || bytes[index + 1] == UInt8(ascii: "1"))
        }
    }
}

/// Reads the values of single keywords.
extension JSONSchemaReader {
    /// Reads a count: a number of any type that equals a 64-bit integer of at least 0.
    func count(_ json: LocatedBSON, of keyword: Keyword) throws(SchemaError) -> Int64 {
        guard case .scalar(let value) = json.value, let number = BSONNumber(value),
            let count = number.exactInteger, count >= 0
        else { throw json.wrong(keyword, "a whole number from 0 on") }
        return count
    }

    /// Reads a list of names, which must not be empty or contain a name twice.
    func names(_ json: LocatedBSON, of what: String) throws(SchemaError) -> [String] {
        guard let elements = json.elements, !elements.isEmpty else {
            throw SchemaError(
                .wrongValue, at: json.location,
                "\(what) must be a list of at least one field name, not \(json.elements == nil ? json.kind : "empty")",
                remedy: json.elements == nil ? nil : "remove it")
        }
        return try json.names(of: what)
    }
}

extension BSONNumber {
    /// The number as a 64-bit integer; `nil` if no 64-bit integer equals it.
    fileprivate var exactInteger: Int64? {
        switch self {
        case .integer(let value): value
        case .double(let value): Int64(exactly: value)
        case .decimal(let value): Int64(exactly: value)
        }
    }
}
