import BSON
import Patterns
import ServerSchema

/// Translates the keywords that restrict which fields an object may have, apart from `additionalProperties`.
extension Translator {
    /// Translates `propertyNames`, if it says no more than a list of names or a regular expression.
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
                for name in values.compactMap(\.text) { fields.allow(name) }
                restrict(&schema, to: fields, json.location, at: place)
            case "type", "title", "description", "$schema", "$id", "$comment": continue
            default:
                lose(
                    .leftOut, .keywordLeftOut, place.path, member.nameLocation,
                    "\(member.name) of propertyNames is left out")
            }
        }
    }

    /// Adds a part that allows only these fields, and in documents `_id`.
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

    /// Translates `unevaluatedProperties` into `additionalProperties`, for the fields that all schemas name that apply
    /// to the same object.
    mutating func translateUnevaluatedProperties(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        guard let json = keywords["unevaluatedProperties"] else { return }
        let rest = try self.schema(json, at: place.inside(.values))
        guard !rest.isUnrestricted else { return }
        var evaluated = EvaluatedFields(document: document)
        try evaluated.add(keywords, in: place.resource, skipping: "unevaluatedProperties")
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
    /// Allows a field to have any value.
    fileprivate mutating func allow(_ name: String) {
        if Self.isAddressable(name) {
            named.append((name, ValidatorSchema()))
        } else {
            matching.append(("^\(Self.literal(name))$", ValidatorSchema()))
        }
    }
}

/// The fields of an object that its schema, and the schemas that apply to the same object, evaluate.
private struct EvaluatedFields {
    let document: SourceDocument
    private(set) var names: [String] = []
    private(set) var patterns: [(text: String, location: SourceLocation)] = []
    /// Whether the schemas evaluate every field.
    private(set) var areAll = false
    /// Whether some of the schemas do not always apply.
    private(set) var isConditional = false
    private var known: Set<String> = []
    private var visited: Set<SourceLocation> = []
    private var level = 0

    init(document: SourceDocument) { self.document = document }

    /// Adds the fields that a schema evaluates.
    /// - Parameter skipped: a keyword that does not count.
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
