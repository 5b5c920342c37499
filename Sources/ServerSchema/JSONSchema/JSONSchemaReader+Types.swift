internal import BSON

/// `type`, `bsonType`, `encrypt` and `encryptMetadata`.
extension JSONSchemaReader {
    func readTypes(_ keywords: KeywordTable, into node: inout SchemaNode) throws(SchemaError) {
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
            guard !node.types.isEmpty else { throw wrong(keyword, json, "at least one type") }
        }
    }

    private func types(_ json: LocatedBSON, of keyword: Keyword) throws(SchemaError) -> [SchemaType] {
        if let name = json.text { return [try type(name, json, of: keyword)] }
        guard let elements = json.elements else { throw wrong(keyword, json, "a string or a list of strings") }
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

extension JSONSchemaReader {
    func readEncryption(_ keywords: KeywordTable, into node: inout SchemaNode) throws(SchemaError) {
        if let metadata = keywords[.encryptMetadata] {
            guard keywords[.encrypt] == nil else {
                throw SchemaError(
                    .conflict, at: metadata.location, "encrypt and encryptMetadata exclude each other",
                    remedy: "remove one")
            }
            guard let members = metadata.members, !members.isEmpty else {
                throw wrong(.encryptMetadata, metadata, "an object that is not empty")
            }
            try checkEncryption(members, of: .encryptMetadata, allowsType: false)
        }
        guard let encrypt = keywords[.encrypt] else { return }
        guard let members = encrypt.members else { throw wrong(.encrypt, encrypt, "an object") }
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
                .wrongValue, at: json.location, "this is no algorithm of encryption",
                remedy: "write one of \(known.joined(separator: ", "))")
        }
    }

    /// A key is named by a JSON pointer into the document, or by the ids of keys.
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
