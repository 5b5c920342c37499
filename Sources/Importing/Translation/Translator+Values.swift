import BSON
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
        // A document as a whole is no number.
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

    /// Returns the stricter one of a bound and its exclusive form; `nil` if there is neither.
    ///
    /// Up to draft 4, the exclusive form is a Boolean; since draft 6, it is a bound of its own.
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
