internal import BSON
internal import Patterns

/// The keywords of scalars.
extension JSONSchemaReader {
    func readScalars(_ keywords: KeywordTable, into node: inout SchemaNode, isWhole: Bool) throws(SchemaError) {
        if let json = keywords[.pattern] {
            let pattern = try text(json, of: .pattern)
            if !isWhole { try check(pattern, mode: .characters, at: json.location) }
            node.constraints.pattern = pattern
        }
        node.constraints.minLength = try count(keywords, .minLength)
        node.constraints.maxLength = try count(keywords, .maxLength)
        if let json = keywords[.multipleOf] { node.constraints.multipleOf = try divisor(json, isWhole: isWhole) }
        (node.constraints.minimum, node.constraints.isMinimumExclusive) =
            try bound(keywords, .minimum, .exclusiveMinimum)
        (node.constraints.maximum, node.constraints.isMaximumExclusive) =
            try bound(keywords, .maximum, .exclusiveMaximum)
    }

    func count(_ keywords: KeywordTable, _ keyword: Keyword) throws(SchemaError) -> Int64? {
        guard let json = keywords[keyword] else { return nil }
        return try count(json, of: keyword)
    }

    func bound(
        _ keywords: KeywordTable, _ keyword: Keyword, _ exclusive: Keyword
    ) throws(SchemaError) -> (BSONValue?, Bool) {
        guard let json = keywords[keyword] else {
            if let json = keywords[exclusive] {
                throw SchemaError(
                    .conflict, at: json.location, "\(exclusive.rawValue) needs \(keyword.rawValue) beside it",
                    remedy: "in this dialect \(exclusive.rawValue) is a boolean, and \(keyword.rawValue) the bound")
            }
            return (nil, false)
        }
        let value = try number(json, of: keyword)
        guard let exclusiveJSON = keywords[exclusive] else { return (value, false) }
        return (value, try flag(exclusiveJSON, of: exclusive))
    }

    func divisor(_ json: LocatedBSON, isWhole: Bool) throws(SchemaError) -> BSONValue {
        let value = try number(json, of: .multipleOf)
        let isUsable =
            switch BSONNumber(value) {
            case .integer(let number): number > 0
            case .double(let number): isWhole ? number > 0 || number.isNaN : number > 0 && number.isFinite
            case .decimal(let number):
                !number.isNegative && !number.isZero && (isWhole || number.isFinite)
            case nil: false
            }
        guard isUsable else { throw wrong(.multipleOf, json, "a number above 0") }
        return value
    }

    /// - Throws: ``SchemaError`` when the pattern is no regular expression.
    func check(_ pattern: String, mode: Pattern.Mode, at location: SourceLocation) throws(SchemaError) {
        do throws(PatternError) {
            _ = try Pattern(pattern, mode: mode)
        } catch {
            throw SchemaError(.invalidPattern, at: location, "this is no regular expression of PCRE: \(error)")
        }
    }
}
