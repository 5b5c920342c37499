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

    /// Allows `_id` in whole documents whose other fields are restricted, if the schema does not name `_id` itself.
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

    /// Translates `dependencies`, `dependentRequired` and `dependentSchemas`.
    ///
    /// Each entry demands other fields, or a schema, if a field is present.
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

    /// Returns what a dependency demands: a list of field names or a schema, as the value of MongoDB's `dependencies`.
    /// - Returns: `nil` if the dependency demands nothing.
    private mutating func demand(
        _ json: LocatedJSON, of keyword: String, at place: Place
    ) throws(SchemaError) -> BSONValue? {
        // A conditional expression cannot be used here, because its `nil` would become a value: BSON's null.
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

struct FieldSchemas {
    var named: [(name: String, schema: ValidatorSchema)] = []
    /// The schemas of the fields whose names match a regular expression.
    var matching: [(pattern: String, schema: ValidatorSchema)] = []
    /// The schema of the fields that neither `named` nor `matching` describes; `nil` if they may have any value.
    var rest: ValidatorSchema?
    /// Whether a regular expression was left out, so that it is unknown to which fields ``rest`` applies.
    var isIncomplete = false

    /// The validator's keywords that describe the fields, such as `properties`.
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
    /// MongoDB reads a dot as a path, and a NUL ends a name. MongoDB 6.0 reads an empty name as the object itself, and
    /// aborts when it reports an error about such a name.
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

/// Translates the keywords that restrict which fields an object may have, apart from `additionalProperties`.
extension Translator {
    /// Translates `propertyNames`, if its value is `true` or `false`, or a schema with a list of names or a regular
    /// expression.
    ///
    /// Any other keyword in that schema that may restrict names is left out, with a note.
    mutating func translatePropertyNames(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        guard let json = keywords["propertyNames"] else { return }
        var names = json
        var passed: Set = [json.location]
        while let reference = names["$ref"] {
            names = try document.target(of: reference, in: place.resource)
            guard passed.insert(names.location).inserted else { return }
        }
        if case .scalar(.bool(let allowsAll)) = names.value {
            if !allowsAll { schema.absorb(ValidatorSchema("maxProperties", .integer(place.isWhole ? 1 : 0))) }
            return
        }
        guard let members = names.members else { throw KeywordValues.wrong("propertyNames", json, "a schema") }
        let demands = try KeywordValues(members, at: names.location)
        for member in members {
            switch member.name {
            case "pattern":
                guard let pattern = try demands.text("pattern"),
                    let text = usable(pattern, mode: .bytes, path: place.path, member.value.location)
                else { continue }
                var fields = FieldSchemas()
                fields.matching = [(text, ValidatorSchema())]
                restrict(&schema, to: fields, json.location, at: place)
            case "enum", "const":
                guard let values = member.name == "const" ? [member.value] : member.value.elements else {
                    throw KeywordValues.wrong("enum", member.value, "a list of names")
                }
                var fields = FieldSchemas()
                for name in values.compactMap(\.text) {
                    try grow(by: 16 + name.utf8.count, at: json.location)
                    fields.allow(name)
                }
                restrict(&schema, to: fields, json.location, at: place)
            case "type", "title", "description", "$schema", "$id", "$comment": continue
            default:
                lose(
                    .leftOut, .keywordLeftOut, place.path, member.nameLocation,
                    "\(member.name) of propertyNames is left out")
            }
        }
    }

    /// Restricts the objects that `schema` accepts to the given fields; a whole document may also have `_id`.
    private mutating func restrict(
        _ schema: inout ValidatorSchema, to fields: FieldSchemas, _ location: SourceLocation, at place: Place
    ) {
        var fields = fields
        fields.rest = .never
        allowID(in: &fields, location, at: place)
        var part = ValidatorSchema()
        part.keywords = fields.keywords
        schema.absorb(part)
    }

    /// Translates `unevaluatedProperties` into `additionalProperties` of a separate schema, and adds the demands of
    /// that schema to `schema`.
    ///
    /// The separate schema names every evaluated field, so that its `additionalProperties` applies only to the other
    /// fields. ``EvaluatedFields`` says which fields are evaluated.
    mutating func translateUnevaluatedProperties(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        guard let json = keywords["unevaluatedProperties"] else { return }
        let rest = try self.schema(json, at: place.inside(.values))
        guard !rest.isUnrestricted else { return }
        var evaluated = EvaluatedFields(document: document)
        try evaluated.add(keywords, in: place.resource, skipping: "unevaluatedProperties")
        for name in evaluated.names { try grow(by: 16 + name.utf8.count, at: json.location) }
        guard !evaluated.areAll else {
            guard evaluated.isConditional else { return }
            return lose(
                .leftOut, .approximated, place.path, json.location,
                "unevaluatedProperties is left out: another schema for the same object may allow every field")
        }
        var fields = FieldSchemas()
        for name in evaluated.names { fields.allow(name) }
        for pattern in evaluated.patterns {
            guard let text = usable(pattern.text, mode: .bytes, path: place.path, pattern.location) else {
                return lose(
                    .warning, .approximated, place.path, json.location,
                    "unevaluatedProperties is left out: a pattern of patternProperties is missing")
            }
            fields.matching.append((text, ValidatorSchema()))
        }
        if evaluated.isConditional {
            lose(
                .leftOut, .approximated, place.path, json.location,
                "unevaluatedProperties allows the fields of all branches of anyOf, oneOf and if")
        }
        fields.rest = rest
        allowID(in: &fields, json.location, at: place)
        var part = ValidatorSchema()
        part.keywords = fields.keywords
        schema.absorb(part)
    }
}

extension FieldSchemas {
    fileprivate mutating func allow(_ name: String) {
        if Self.isAddressable(name) {
            named.append((name, ValidatorSchema()))
        } else {
            matching.append(("^\(Self.literal(name))$", ValidatorSchema()))
        }
    }
}

/// The fields of an object that count as evaluated in JSON Schema.
///
/// A field is evaluated if a keyword judges it. The keyword may be in the object's schema, or in another schema that
/// applies to the object. The keyword `unevaluatedProperties` applies to all other fields.
private struct EvaluatedFields {
    let document: SourceDocument
    private(set) var names: [String] = []
    private(set) var patterns: [(text: String, location: SourceLocation)] = []
    /// Whether one of the added schemas evaluates, or may evaluate, all fields that no other keyword names, for example
    /// by `additionalProperties`.
    private(set) var areAll = false
    /// Whether at least one of the added schemas applies only under a condition, such as a branch of `anyOf`.
    private(set) var isConditional = false
    private var known: Set<String> = []
    private var visited: Set<SourceLocation> = []
    private var level = 0

    init(document: SourceDocument) { self.document = document }

    /// Adds the fields that a schema evaluates.
    /// - Parameter skipped: a keyword to ignore.
    mutating func add(
        _ keywords: KeywordValues, in resource: LocatedJSON, skipping skipped: String? = nil
    ) throws(SchemaError) {
        guard visited.insert(keywords.location).inserted else { return }
        level += 1
        defer { level -= 1 }
        guard level <= 100 else { throw .tooDeep(at: keywords.location) }
        for member in keywords.members where member.name != skipped {
            switch member.name {
            case "properties":
                for field in member.value.members ?? [] where known.insert(field.name).inserted {
                    names.append(field.name)
                }
            case "patternProperties":
                patterns += (member.value.members ?? []).map { ($0.name, $0.nameLocation) }
            case "additionalProperties", "unevaluatedProperties": areAll = true
            case "$dynamicRef", "$recursiveRef": (areAll, isConditional) = (true, true)
            case "$ref": try add(try document.target(of: member.value, in: resource), in: resource)
            case "allOf": for branch in member.value.elements ?? [] { try add(branch, in: resource) }
            case "anyOf", "oneOf":
                isConditional = true
                for branch in member.value.elements ?? [] { try add(branch, in: resource) }
            case "if", "then", "else":
                isConditional = true
                try add(member.value, in: resource)
            case "dependentSchemas":
                isConditional = true
                for branch in member.value.members ?? [] { try add(branch.value, in: resource) }
            default: continue
            }
        }
    }

    private mutating func add(_ json: LocatedJSON, in resource: LocatedJSON) throws(SchemaError) {
        guard let members = json.members else { return }
        try add(try KeywordValues(members, at: json.location), in: resource)
    }
}
