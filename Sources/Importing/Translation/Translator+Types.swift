import BSON
import Patterns
import ServerSchema

/// Translates `type`, and the keywords of strings, whose type in BSON depends on their format.
extension Translator {
    mutating func translateTypes(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        let format = try keywords.text("format")
        guard keywords["bsonType"] == nil else {
            schema.types = try bsonTypes(keywords)
            noteFormat(format, keywords, at: place)
            return try translateText(keywords, into: &schema, at: place)
        }
        var names = try typeNames(keywords)
        // A format applies only to strings, so a schema that has nothing but a format means a string.
        if names.isEmpty, let format, StringStorage(format: format) != nil, !keepsStrings { names = ["string"] }
        guard !names.isEmpty else {
            noteFormat(format, keywords, at: place)
            return try translateText(keywords, into: &schema, at: place)
        }
        let storage = names.contains("string") ? try storage(keywords, format, at: place) : nil
        var types: [SchemaType] = []
        for name in names {
            for type in try bsonTypes(of: name, storage, keywords, at: place) where !types.contains(type) {
                types.append(type)
            }
        }
        schema.types = types
        if let storage { return note(storage, keywords, at: place) }
        noteFormat(format, keywords, at: place)
        if names.contains("string") { try translateText(keywords, into: &schema, at: place) }
    }

    private func typeNames(_ keywords: KeywordValues) throws(SchemaError) -> [String] {
        guard let json = keywords["type"] else { return [] }
        if let name = json.text { return [name] }
        let names = try KeywordValues.names(json, of: "type")
        guard !names.isEmpty else { throw KeywordValues.wrong("type", json, "at least one type") }
        return names
    }

    /// Returns the BSON types in which values of a type of JSON Schema are stored.
    private mutating func bsonTypes(
        of name: String, _ storage: StringStorage?, _ keywords: KeywordValues, at place: Place
    ) throws(SchemaError) -> [SchemaType] {
        let location = keywords["type"]?.location ?? keywords.location
        switch name {
        case "string": return storage?.types ?? [.string]
        case "integer":
            note(.decision, .numberType, place.path, location, "integer is stored as int or long, and not as a double")
            return [.int, .long]
        case "number":
            note(.decision, .numberType, place.path, location, "number is stored as double, int, long or decimal")
            return SchemaType.numbers
        case "boolean": return [.bool]
        case "null": return [.null]
        case "object": return [.object]
        case "array": return [.array]
        // TypeBox has these types for values of JavaScript.
        case "Date": return [.date]
        case "Uint8Array": return [.binData]
        case "bigint": return [.int, .long]
        default:
            let known = ["string", "integer", "number", "boolean", "null", "object", "array"]
            throw SchemaError(
                .unknownType, at: location, "unknown type \"\(name)\"",
                remedy: Spelling.hint(for: name, among: known) ?? "JSON Schema has \(known.joined(separator: ", "))")
        }
    }

    /// Returns the types that `bsonType` names, as Mongoose and people who know MongoDB write it.
    private func bsonTypes(_ keywords: KeywordValues) throws(SchemaError) -> [SchemaType] {
        guard let json = keywords["bsonType"] else { return [] }
        let names = if let name = json.text { [name] } else { try KeywordValues.names(json, of: "bsonType") }
        var types: [SchemaType] = []
        for name in names {
            guard let type = SchemaType(rawValue: name), type != .uuid, type != .mixed else {
                let known = SchemaType.allCases.filter { $0 != .uuid && $0 != .mixed }.map(\.rawValue)
                throw SchemaError(
                    .unknownType, at: json.location, "unknown bsonType \"\(name)\"",
                    remedy: Spelling.hint(for: name, among: known))
            }
            types.append(type)
        }
        guard !types.isEmpty else { throw KeywordValues.wrong("bsonType", json, "at least one type") }
        return types
    }
}

/// Decides how a string is stored.
extension Translator {
    /// Returns how BSON stores a string of this schema; `nil` if as a string.
    private mutating func storage(
        _ keywords: KeywordValues, _ format: String?, at place: Place
    ) throws(SchemaError) -> StringStorage? {
        guard !keepsStrings, !keywords.hasAny(of: "enum", "const") else { return nil }
        if let storage = format.flatMap({ StringStorage(format: $0) }) { return storage }
        guard format == nil else { return nil }
        if let pattern = try keywords.text("pattern") {
            return StringStorage.isHexadecimalID(pattern) ? .objectID("24 hexadecimal digits are") : nil
        }
        let isPlain = !keywords.hasAny(of: "minLength", "maxLength")
        let isID = place.isID && (isPlain || keywords["minLength"]?.integer == 24)
        return isID ? .objectID("a string _id is") : nil
    }

    /// Notes how a string is stored, and which keywords no longer apply.
    private mutating func note(_ storage: StringStorage, _ keywords: KeywordValues, at place: Place) {
        note(.decision, storage.code, place.path, keywords.location, storage.message)
        guard storage.code != .objectID else { return }
        for (keyword, json) in keywords.present("pattern", "minLength", "maxLength") {
            lose(
                .leftOut, .keywordLeftOut, place.path, json.location,
                "\(keyword) is left out: the value is stored as \(storage.types[0].rawValue)")
        }
    }

    private mutating func noteFormat(_ format: String?, _ keywords: KeywordValues, at place: Place) {
        guard let format, let json = keywords["format"] else { return }
        lose(.leftOut, .formatLeftOut, place.path, json.location, "format \(format) is not checked")
    }

    /// Translates the keywords of strings that stay strings.
    private mutating func translateText(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        guard !place.isWhole else { return }
        if let length = try keywords.count("minLength"), length > 0 { schema.keywords["minLength"] = .integer(length) }
        if let length = try keywords.count("maxLength") { schema.keywords["maxLength"] = .integer(length) }
        guard let pattern = try keywords.text("pattern"), let location = keywords["pattern"]?.location else { return }
        if let text = usable(pattern, mode: .characters, path: place.path, location) {
            schema.keywords["pattern"] = .string(text)
        }
    }
}
