import BSON
import Patterns
import ServerSchema

/// Translates `enum` and `const`, and the keywords of numbers.
extension Translator {
    mutating func translateValues(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        for (keyword, json) in keywords.present("enum", "const") {
            guard !place.isWhole else {
                lose(
                    .leftOut, .keywordLeftOut, place.path, json.location,
                    "\(keyword) is left out: a document also has an _id")
                continue
            }
            schema.absorb(try listed(keyword, json))
        }
    }

    private func listed(_ keyword: String, _ json: LocatedJSON) throws(SchemaError) -> ValidatorSchema {
        guard let elements = keyword == "const" ? [json] : json.elements else {
            throw KeywordValues.wrong(keyword, json, "a list of values")
        }
        guard !elements.isEmpty else { return .never }
        var values = DistinctValues()
        for element in elements { _ = values.insert(try LocatedBSON(element).bson) }
        var schema = ValidatorSchema()
        schema.values = values.values
        return schema
    }

    func translateNumbers(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        // The keywords of numbers do not apply to whole documents.
        guard !place.isWhole else { return }
        for (keyword, exclusive, isLower) in [
            ("minimum", "exclusiveMinimum", true), ("maximum", "exclusiveMaximum", false),
        ] {
            guard let bound = try bound(keywords, keyword, exclusive, isLower: isLower) else { continue }
            schema.keywords[keyword] = bound.value
            if bound.isExclusive { schema.keywords[exclusive] = true }
        }
        guard let divisor = try keywords.number("multipleOf"), let json = keywords["multipleOf"] else { return }
        guard BSONNumber(divisor)?.compared(to: .integer(0)) == .greater else {
            throw KeywordValues.wrong("multipleOf", json, "a number above 0")
        }
        schema.keywords["multipleOf"] = divisor
    }

    /// Returns the stricter of two bounds, such as `minimum` and `exclusiveMinimum`; `nil` if there is neither.
    ///
    /// Up to draft 4, `exclusiveMinimum` is a Boolean that makes `minimum` exclusive; since draft 6, it is a bound of
    /// its own.
    private func bound(
        _ keywords: KeywordValues, _ keyword: String, _ exclusive: String, isLower: Bool
    ) throws(SchemaError) -> (value: BSONValue, isExclusive: Bool)? {
        let inclusive = try keywords.number(keyword)
        if case .scalar(.bool(let flag))? = keywords[exclusive]?.value { return inclusive.map { ($0, flag) } }
        guard let strict = try keywords.number(exclusive) else { return inclusive.map { ($0, false) } }
        guard let inclusive, let own = BSONNumber(inclusive), let other = BSONNumber(strict) else {
            return (strict, true)
        }
        let isWeaker = other.compared(to: own) == (isLower ? .less : .greater)
        return isWeaker ? (inclusive, false) : (strict, true)
    }
}

/// Translates `type` and the keywords of strings.
///
/// The format of a string decides its type in BSON.
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
        // A format applies only to strings, so a schema without a type means a string if its format has a BSON type.
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
        // TypeBox adds types such as `Date` to JSON Schema, for values of JavaScript that JSON does not have.
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

    /// Returns the types that `bsonType` names.
    ///
    /// The keyword belongs to MongoDB's dialect and not to JSON Schema, but schemas by Mongoose and by some users
    /// contain it.
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

/// Decides which BSON type a string of JSON Schema has in the database.
extension Translator {
    /// Returns the BSON types in which strings of this schema are stored; `nil` if they are stored as strings.
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

    /// Adds a note on how strings of a schema are stored, and a note on each keyword that the translation leaves out
    /// because it applies only to values stored as strings.
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

/// Translates the keywords of arrays.
extension Translator {
    mutating func translateArrays(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        // The keywords of arrays do not apply to whole documents.
        guard !place.isWhole else { return }
        if let count = try keywords.count("minItems"), count > 0 { schema.keywords["minItems"] = .integer(count) }
        if let count = try keywords.count("maxItems") { schema.keywords["maxItems"] = .integer(count) }
        if try keywords.flag("uniqueItems") == true { schema.keywords["uniqueItems"] = true }
        try translateElements(keywords, into: &schema, at: place)
        try translateContains(keywords, into: &schema, at: place)
    }

    /// Translates the schemas of an array's elements.
    ///
    /// The first elements can each have a schema of their own; one schema applies to all elements after them.
    private mutating func translateElements(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        let inside = place.inside(.elements)
        let isOldTuple = keywords["items"]?.elements != nil
        let first = (isOldTuple ? keywords["items"] : keywords["prefixItems"])?.elements ?? []
        if let json = keywords["prefixItems"], json.elements == nil {
            throw KeywordValues.wrong("prefixItems", json, "a list of schemas")
        }
        var positions: [ValidatorSchema] = []
        for json in first { positions.append(try self.schema(json, at: inside)) }
        if !positions.isEmpty { schema.keywords["items"] = .array(of: positions.map(\.value)) }
        guard let json = try rest(keywords, isOldTuple: isOldTuple, at: place) else { return }
        let others = try self.schema(json, at: inside)
        guard !others.isUnrestricted else { return }
        if !positions.isEmpty {
            schema.keywords["additionalItems"] = others.isNever ? false : others.value
        } else if others.isNever {
            schema.absorb(ValidatorSchema("maxItems", 0))
        } else {
            schema.keywords["items"] = others.value
        }
    }

    /// Returns the schema of all elements after those that have a schema of their own; `nil` if there is none.
    private mutating func rest(
        _ keywords: KeywordValues, isOldTuple: Bool, at place: Place
    ) throws(SchemaError) -> LocatedJSON? {
        let stated = isOldTuple ? keywords["additionalItems"] : keywords["items"]
        guard stated == nil, let json = keywords["unevaluatedItems"] else { return stated }
        guard !keywords.hasAny(of: "allOf", "anyOf", "oneOf", "if", "$ref", "$dynamicRef", "contains") else {
            lose(
                .leftOut, .keywordLeftOut, place.path, json.location,
                "unevaluatedItems is left out: other schemas apply to the same array")
            return nil
        }
        return json
    }

    /// Translates `contains`, which MongoDB does not have, by a negation: an array is refused if all its elements fail
    /// the schema of `contains`.
    private mutating func translateContains(
        _ keywords: KeywordValues, into schema: inout ValidatorSchema, at place: Place
    ) throws(SchemaError) {
        guard let json = keywords["contains"] else { return }
        let (element, isExact) = try exactly(json, at: place.inside(.elements))
        let noElement = ValidatorSchema("items", ValidatorSchema.not(element).value)
        let least = try keywords.count("minContains") ?? 1
        if least > 0 {
            let isNoArray = ValidatorSchema.not(ValidatorSchema(types: [.array]))
            let isFound = ValidatorSchema.not(noElement)
            schema.absorb(schema.types == [.array] ? isFound : .union([isNoArray, isFound]))
        }
        if least > 1, let json = keywords["minContains"] {
            lose(
                .leftOut, .keywordLeftOut, place.path, json.location,
                "minContains is weaker: one such element is enough")
        }
        guard let most = try keywords.count("maxContains"), let json = keywords["maxContains"] else { return }
        if most == 0, isExact { return schema.absorb(noElement) }
        lose(.leftOut, .keywordLeftOut, place.path, json.location, "maxContains is left out")
    }
}

/// Translates regular expressions.
extension Translator {
    /// Returns a regular expression in MongoDB's syntax; `nil` if MongoDB cannot use it.
    ///
    /// Adds a note on the reason if MongoDB cannot use the expression, and on each respect in which MongoDB reads the
    /// expression differently than JavaScript.
    mutating func usable(
        _ text: String, mode: Pattern.Mode, path: SchemaPath, _ location: SourceLocation
    ) -> String? {
        let translation = PatternTranslation(text)
        let result = translation.text(for: mode)
        let reason: String
        do throws(PatternError) {
            // MongoDB 6.1 and later use PCRE2, so an expression that only PCRE 8 can read is refused as well.
            let refusal = try Pattern(result, mode: mode).refusalByPCRE2
            guard let refusal = refusal ?? translation.refusal else {
                for difference in translation.differences.sorted() {
                    note(.decision, .patternDiffers, path, location, "in a pattern, \(difference)")
                }
                return result
            }
            reason = refusal
        } catch { reason = "\(error)" }
        lose(.warning, .patternUnusable, path, location, "the pattern \(text) is left out: \(reason)")
        return nil
    }
}
