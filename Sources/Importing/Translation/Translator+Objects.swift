import BSON
import Patterns
import ServerSchema

/// Translates the keywords of objects.
extension Translator {
    mutating func translateObjects(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        var fields = FieldSchemas()
        try translateProperties(keywords, into: &fields, at: place)
        try translateRest(keywords, into: &fields, at: place)
        schema.keywords.merge(fields.keywords) { own, _ in own }
        if let json = keywords["required"] {
            let names = try addressable(json, of: "required", at: place)
            if !names.isEmpty { schema.keywords["required"] = .array(of: names.map { .string($0) }) }
        }
        try translateFieldCounts(keywords, into: &schema, at: place)
        try translateDependencies(keywords, into: &schema, at: place)
        try translatePropertyNames(keywords, into: &schema, at: place)
        try translateUnevaluatedProperties(keywords, into: &schema, at: place)
    }

    /// Translates `properties` and `patternProperties`.
    private mutating func translateProperties(
        _ keywords: KeywordValues, into fields: inout FieldSchemas, at place: Place
    ) throws(SchemaError) {
        for member in try keywords.members(of: "properties") ?? [] {
            if place.isWhole, self.fields[member.name] == nil { self.fields[member.name] = member.nameLocation }
            let translated = try schema(member.value, at: place.inside(.field(member.name)))
            if FieldSchemas.isAddressable(member.name) {
                fields.named.append((member.name, translated))
            } else if member.name.isEmpty || member.name.utf8.contains(0) {
                loseName(member.name, member.nameLocation, at: place)
            } else {
                fields.matching.append(("^\(FieldSchemas.literal(member.name))$", translated))
            }
        }
        for member in try keywords.members(of: "patternProperties") ?? [] {
            let translated = try schema(member.value, at: place.inside(.values))
            guard let pattern = usable(member.name, mode: .bytes, path: place.path, member.nameLocation) else {
                fields.isIncomplete = true
                continue
            }
            fields.matching.append((pattern, translated))
        }
    }

    /// Translates `additionalProperties`.
    private mutating func translateRest(
        _ keywords: KeywordValues, into fields: inout FieldSchemas, at place: Place
    ) throws(SchemaError) {
        guard let json = keywords["additionalProperties"] else { return }
        let rest = try schema(json, at: place.inside(.values))
        guard !rest.isUnrestricted else { return }
        guard !fields.isIncomplete else {
            return lose(
                .warning, .approximated, place.path, json.location,
                "additionalProperties is left out: a pattern of patternProperties is missing")
        }
        fields.rest = rest
        allowID(in: &fields, json.location, at: place)
    }

    /// Allows `_id` in documents whose other fields are restricted.
    mutating func allowID(in fields: inout FieldSchemas, _ location: SourceLocation, at place: Place) {
        guard place.isWhole, !fields.named.contains(where: { $0.name == "_id" }) else { return }
        fields.named.append(("_id", ValidatorSchema()))
        note(
            .decision, .idAllowed, SchemaPath([.field("_id")]), location,
            "_id is allowed: every document has one, and the schema does not name it")
    }

    private mutating func translateFieldCounts(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        let namesID = try keywords.members(of: "properties")?.contains { $0.name == "_id" } ?? false
        for keyword in ["minProperties", "maxProperties"] {
            guard let count = try keywords.count(keyword), let json = keywords[keyword] else { continue }
            let countsID = place.isWhole && !namesID
            schema.keywords[keyword] = .integer(countsID ? count + 1 : count)
            guard countsID else { continue }
            note(
                .decision, .idAllowed, SchemaPath([.field("_id")]), json.location,
                "\(keyword) is one more: it counts _id, too, and the schema does not name it")
        }
    }

    /// Translates the three keywords that demand something if a field is present.
    private mutating func translateDependencies(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        var demands: [(String, BSONValue)] = []
        var seen: Set<String> = []
        for keyword in ["dependencies", "dependentRequired", "dependentSchemas"] {
            for member in try keywords.members(of: keyword) ?? [] {
                guard FieldSchemas.isAddressable(member.name) else {
                    loseName(member.name, member.nameLocation, at: place)
                    continue
                }
                guard let demand = try demand(member.value, of: keyword, at: place) else { continue }
                if seen.insert(member.name).inserted {
                    demands.append((member.name, demand))
                } else {
                    schema.parts.append(ValidatorSchema("dependencies", [member.name: demand]))
                }
            }
        }
        if !demands.isEmpty { schema.keywords["dependencies"] = .object(BSONDocument(demands)) }
    }

    /// Returns the demand of a dependency as MongoDB spells it; `nil` if it demands nothing.
    private mutating func demand(
        _ json: LocatedJSON, of keyword: String, at place: Place
    ) throws(SchemaError) -> BSONValue? {
        // No conditional expression, because its `nil` would be a value: BSON's null.
        guard json.elements == nil else {
            let names = try addressable(json, of: keyword, at: place)
            if names.isEmpty { return nil }
            return .array(of: names.map { .string($0) })
        }
        let schema = try self.schema(json, at: place)
        if schema.isUnrestricted { return nil }
        return schema.value
    }

    /// Reads a list of field names, without those that MongoDB cannot address.
    private mutating func addressable(
        _ json: LocatedJSON, of keyword: String, at place: Place
    ) throws(SchemaError) -> [String] {
        let names = try KeywordValues.names(json, of: keyword)
        for name in names where !FieldSchemas.isAddressable(name) { loseName(name, json.location, at: place) }
        return names.filter(FieldSchemas.isAddressable)
    }

    private mutating func loseName(_ name: String, _ location: SourceLocation, at place: Place) {
        let reason = name.isEmpty ? "no name" : name.utf8.contains(0) ? "a NUL in its name" : "a dot in its name"
        lose(
            .warning, .nameUnusable, place.path.appending(.field(name)), location,
            "a demand is left out: MongoDB's schemas cannot address a field with \(reason)")
    }
}

/// The schemas of an object's fields.
struct FieldSchemas {
    /// The schemas of fields by name.
    var named: [(name: String, schema: ValidatorSchema)] = []
    /// The schemas of the fields whose names match a regular expression.
    var matching: [(pattern: String, schema: ValidatorSchema)] = []
    /// The schema of all other fields; `nil` if they may have any value.
    var rest: ValidatorSchema?
    /// Whether a regular expression was left out, so that it is unknown which fields are the other ones.
    var isIncomplete = false

    /// The keywords for these fields.
    var keywords: [String: BSONValue] {
        var keywords: [String: BSONValue] = [:]
        if !named.isEmpty {
            keywords["properties"] = .object(BSONDocument(named.map { ($0.name, $0.schema.value) }))
        }
        if !matching.isEmpty {
            keywords["patternProperties"] = .object(BSONDocument(matching.map { ($0.pattern, $0.schema.value) }))
        }
        if let rest { keywords["additionalProperties"] = rest.isNever ? false : rest.value }
        return keywords
    }

    /// Whether MongoDB's schemas can address a field of this name by `properties` and `required`.
    ///
    /// MongoDB reads a dot as a path. MongoDB 6.0 reads an empty name as the object itself, and aborts when it words an
    /// error about it.
    static func isAddressable(_ name: String) -> Bool { !name.isEmpty && !name.utf8.contains { $0 == 0x2E || $0 == 0 } }

    /// Returns a regular expression that matches exactly the given text.
    static func literal(_ text: String) -> String {
        text.unicodeScalars.map { scalar in
            let isPlain =
                !scalar.isASCII || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_"
            return (isPlain ? "" : "\\") + String(scalar)
        }.joined()
    }
}
