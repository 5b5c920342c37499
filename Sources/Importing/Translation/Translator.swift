import BSON
import ServerSchema

/// Translates one schema of a file into MongoDB's dialect.
///
/// A translated schema accepts at least the values that the source accepts, in the types in which BSON stores them.
/// If a restriction inside a negating keyword such as `not` has no counterpart, the whole keyword is left out, because
/// the keyword would refuse more values without the restriction.
struct Translator {
    let document: SourceDocument
    /// Whether every string is stored as a string, even if its format has a BSON type of its own.
    let keepsStrings: Bool
    /// The notes on the translation so far, in the order in which they were made.
    private(set) var notes: [ImportNote] = []
    /// The number of restrictions that were left out or weakened so far.
    private(set) var losses = 0
    /// The fields of whole documents that the schema names, with the first position of each.
    var fields: [String: SourceLocation] = [:]

    /// The positions of the schemas that are being translated, the outermost first.
    ///
    /// A schema to which a reference leads is translated in place of the reference. If the schema's position is already
    /// in this list, the reference leads back to a schema around it.
    private var open: [SourceLocation] = []
    private var seen: Set<ImportNote> = []
    private var count = 0
    private var size = 0

    /// The largest number of schemas that a translation may have; a schema to which several references lead counts for
    /// each of them.
    private static let most = 20_000
    /// The largest number of schemas inside each other: more than MongoDB accepts, and few enough for a thread's stack.
    private static let deepest = 100

    init(_ document: SourceDocument, keepsStrings: Bool) {
        (self.document, self.keepsStrings) = (document, keepsStrings)
    }

    /// Translates the schema of whole documents.
    /// - Throws: ``SchemaError`` if it is not a valid schema, or describes no documents.
    mutating func root(_ json: LocatedJSON) throws(SchemaError) -> ValidatorSchema {
        let schema = try self.schema(json, at: Place(resource: json["$id"] == nil ? document.root : json))
        if let types = schema.types, !types.contains(.object) {
            throw SchemaError(
                .rootNotObject, at: json.location,
                "the schema describes \(types.map(\.rawValue).joined(separator: " or ")), and documents are objects",
                remedy: "choose another schema of the file with --schema")
        }
        if let place = fields["id"], fields["_id"] == nil {
            note(
                .warning, .idMissing, SchemaPath([.field("id")]), place,
                "the schema names id and no _id: if your code maps one to the other, name it _id here")
        }
        return schema
    }

    /// Translates a schema, and all schemas inside it.
    mutating func schema(_ json: LocatedJSON, at place: Place) throws(SchemaError) -> ValidatorSchema {
        if case .scalar(.bool(let acceptsAll)) = json.value { return acceptsAll ? ValidatorSchema() : .never }
        guard let members = json.members else {
            throw SchemaError(
                .wrongValue, at: json.location, "a schema must be an object or a boolean, not \(json.kind)")
        }
        count += 1
        guard count <= Self.most else {
            throw SchemaError(
                .tooLarge, at: json.location, "with its references written out, the schema has more than 20,000 parts",
                remedy: "import a smaller schema of the file")
        }
        guard open.count < Self.deepest else { throw .tooDeep(at: json.location) }
        for member in members { try grow(by: member.size, at: json.location) }
        let keywords = try KeywordValues(members, at: json.location)
        var place = place
        if let id = json["$id"]?.text, !id.hasPrefix("#") { place.resource = json }
        open.append(json.location)
        defer { open.removeLast() }
        guard let reference = keywords["$ref"] else { return try own(keywords, at: place) }
        let target = try inlined(reference, at: place)
        guard document.draft == .since2019 else {
            let ignored = Self.structural.union(["$ref", "title", "description"])
            for member in members where !ignored.contains(member.name) {
                note(
                    .leftOut, .keywordLeftOut, place.path, member.nameLocation,
                    "\(member.name) is left out: next to $ref it has no effect in this version of JSON Schema")
            }
            return target
        }
        var schema = try own(keywords, at: place)
        schema.absorb(target)
        return schema
    }

    /// Counts the bytes of a part of the result.
    ///
    /// A large list to which many references lead is written out for each of them.
    /// - Throws: ``SchemaError`` if the result becomes too large for MongoDB.
    mutating func grow(by bytes: Int, at location: SourceLocation) throws(SchemaError) {
        size += bytes
        guard size <= ImportedSchema.largest else { throw .tooLarge(at: location) }
    }

    private mutating func inlined(_ reference: LocatedJSON, at place: Place) throws(SchemaError) -> ValidatorSchema {
        let target = try document.target(of: reference, in: place.resource)
        guard !open.contains(target.location) else {
            lose(
                .warning, .recursion, place.path, reference.location,
                "the reference \(reference.text ?? "") leads back to a schema around it: values here are not checked")
            return ValidatorSchema()
        }
        var place = place
        if reference.text?.hasPrefix("#") != true { place.resource = document.root }
        return try schema(target, at: place)
    }

    private mutating func own(_ keywords: KeywordValues, at place: Place) throws(SchemaError) -> ValidatorSchema {
        var schema = ValidatorSchema()
        schema.title = try keywords.text("title")
        schema.description = try keywords.text("description")
        try translateTypes(keywords, into: &schema, at: place)
        try translateValues(keywords, into: &schema, at: place)
        try translateNumbers(keywords, into: &schema, at: place)
        try translateArrays(keywords, into: &schema, at: place)
        try translateObjects(keywords, into: &schema, at: place)
        try translateCombinations(keywords, into: &schema, at: place)
        try noteOthers(keywords, at: place)
        return try keywords.flag("nullable") == true ? nullable(schema, keywords, at: place) : schema
    }
}

extension LocatedJSON.Member {
    /// The number of bytes, roughly, of the name and of the value, apart from schemas in it.
    fileprivate var size: Int {
        8 + name.utf8.count + (["enum", "const", "required"].contains(name) ? value.size : value.text?.utf8.count ?? 0)
    }
}

extension LocatedJSON {
    /// The number of bytes, roughly, of the value.
    fileprivate var size: Int {
        switch value {
        case .scalar: 8 + (text?.utf8.count ?? 0)
        case .array(let elements): elements.reduce(8) { $0 + $1.size }
        case .object(let members): members.reduce(8) { $0 + 8 + $1.name.utf8.count + $1.value.size }
        }
    }
}

/// Adds notes.
extension Translator {
    /// Adds a note, unless there is an equal one already.
    mutating func note(
        _ kind: ImportNote.Kind, _ code: ImportNote.Code, _ path: SchemaPath, _ location: SourceLocation,
        _ message: String
    ) {
        let note = ImportNote(kind: kind, code: code, path: path, location: location, message: message)
        if seen.insert(note).inserted { notes.append(note) }
    }

    /// Adds a note on a restriction that is left out or weakened.
    mutating func lose(
        _ kind: ImportNote.Kind, _ code: ImportNote.Code, _ path: SchemaPath, _ location: SourceLocation,
        _ message: String
    ) {
        losses += 1
        note(kind, code, path, location, message)
    }

    /// Translates a schema, and returns whether the translation is exact: no restriction is left out or weakened.
    mutating func exactly(
        _ json: LocatedJSON, at place: Place
    ) throws(SchemaError) -> (schema: ValidatorSchema, isExact: Bool) {
        let before = losses
        let schema = try self.schema(json, at: place)
        return (schema, losses == before)
    }
}

/// Translates the keywords that combine schemas.
extension Translator {
    mutating func translateCombinations(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        if let branches = try keywords.branches("allOf") {
            let all = try translated(branches, at: place).schemas.filter { !$0.isUnrestricted }
            if all.count == 1 { schema.absorb(all[0]) } else { schema.parts += all }
        }
        if let branches = try keywords.branches("anyOf") {
            schema.absorb(.union(try translated(branches, at: place).schemas))
        }
        if let branches = try keywords.branches("oneOf") {
            schema.absorb(try exclusive(branches, at: place))
        }
        if let json = keywords["not"] {
            let (negated, isExact) = try exactly(json, at: place)
            if isExact { schema.absorb(.not(negated)) } else { loseWhole("not", "it", json, at: place) }
        }
        try translateCondition(keywords, into: &schema, at: place)
    }

    private mutating func translated(
        _ branches: [LocatedJSON], at place: Place
    ) throws(SchemaError) -> (schemas: [ValidatorSchema], areExact: Bool) {
        let before = losses
        var schemas: [ValidatorSchema] = []
        for json in branches { schemas.append(try schema(json, at: place)) }
        return (schemas, losses == before)
    }

    /// Translates `oneOf`.
    ///
    /// The result is a union, such as `anyOf`, in two cases. In the first case, no value can fit two branches, so
    /// `anyOf` means the same as `oneOf`. In the second case, the translation of a branch accepts more values than the
    /// branch. A valid value could then fit two translated branches, and `oneOf` would refuse it.
    private mutating func exclusive(
        _ branches: [LocatedJSON], at place: Place
    ) throws(SchemaError) -> ValidatorSchema {
        let (schemas, areExact) = try translated(branches, at: place)
        if ValidatorSchema.areDisjoint(schemas) { return .union(schemas) }
        if areExact { return ValidatorSchema("oneOf", .array(of: schemas.map(\.value))) }
        lose(
            .leftOut, .approximated, place.path, branches[0].location,
            "oneOf is checked as anyOf: a part of a branch has no counterpart, so a value could fit two branches")
        return .union(schemas)
    }

    private mutating func translateCondition(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        guard let json = keywords["if"], keywords.hasAny(of: "then", "else") else { return }
        let (condition, isExact) = try exactly(json, at: place)
        if let json = keywords["then"] {
            let consequence = try self.schema(json, at: place)
            if isExact {
                schema.absorb(.union([.not(condition), consequence]))
            } else {
                loseWhole("then", "its if", json, at: place)
            }
        }
        if let json = keywords["else"] { schema.absorb(.union([condition, try self.schema(json, at: place)])) }
    }

    private mutating func loseWhole(_ keyword: String, _ whole: String, _ json: LocatedJSON, at place: Place) {
        lose(
            .warning, .approximated, place.path, json.location,
            "\(keyword) is left out: a part of \(whole) has no counterpart, so the rest would refuse too much")
    }

    /// Allows null in a schema with `nullable: true`, a keyword of OpenAPI 3.0.
    mutating func nullable(
        _ schema: ValidatorSchema, _ keywords: KeywordValues, at place: Place
    ) -> ValidatorSchema {
        guard !schema.isUnrestricted, schema.types?.contains(.null) != true, let json = keywords["nullable"] else {
            return schema
        }
        if keywords["type"] == nil || schema.values?.contains(where: { $0.type == .null }) == false {
            note(.decision, .nullAllowed, place.path, json.location, "nullable allows null here, too")
        }
        var bare = schema
        (bare.title, bare.description) = (nil, nil)
        var result = ValidatorSchema.union([bare, ValidatorSchema(types: [.null])])
        (result.title, result.description) = (schema.title, schema.description)
        return result
    }
}

/// Adds notes on the keywords that are not translated.
extension Translator {
    mutating func noteOthers(_ keywords: KeywordValues, at place: Place) throws(SchemaError) {
        for member in keywords.members {
            let (name, location) = (member.name, member.nameLocation)
            if Self.translated.contains(name) || Self.structural.contains(name) { continue }
            if Self.annotations.contains(name) || name.hasPrefix("x-") {
                note(.leftOut, .annotationLeftOut, place.path, location, "\(name) is left out: it restricts nothing")
            } else if Self.untranslatable.contains(name) {
                lose(.warning, .keywordLeftOut, place.path, location, "\(name) is left out")
            } else {
                let hint = Spelling.hint(for: name, among: Self.sortedTranslated).map { " (\($0))" } ?? ""
                note(
                    .warning, .unknownKeyword, place.path, location,
                    "\(name) is left out: JSON Schema has no such keyword\(hint)")
            }
        }
    }

    /// The keywords that the translator and its extensions translate.
    private static let translated: Set = [
        "title", "description", "type", "bsonType", "format", "pattern", "minLength", "maxLength", "enum", "const",
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "properties", "patternProperties",
        "additionalProperties", "required", "propertyNames", "minProperties", "maxProperties", "dependencies",
        "dependentRequired", "dependentSchemas", "unevaluatedProperties", "items", "prefixItems", "additionalItems",
        "unevaluatedItems", "contains", "minContains", "maxContains", "minItems", "maxItems", "uniqueItems", "allOf",
        "anyOf", "oneOf", "not", "if", "then", "else", "$ref", "nullable",
    ]
    private static let sortedTranslated = translated.sorted()
    /// The keywords that identify or contain schemas.
    static let structural: Set = [
        "$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "$comment", "$defs",
        "definitions", "components", "schemas",
    ]
    /// The keywords that describe values, but do not restrict them.
    private static let annotations: Set = [
        "default", "examples", "example", "readOnly", "writeOnly", "deprecated", "contentEncoding", "contentMediaType",
        "contentSchema", "discriminator", "xml", "externalDocs",
    ]
    /// The keywords that restrict values in a way that a validator cannot.
    private static let untranslatable: Set = ["$dynamicRef", "$recursiveRef"]
}
