/// Lint rules for keywords that mean nothing to clients: `keyword-not-mapped`, `keyword-undocumented`.
enum KeywordLint {
    static func findings(at place: LintPlace) -> [LintFinding] {
        place.node.serverKeywords.map { name, location in
            if Keyword(rawValue: name)?.isForeign ?? false {
                return place.finding(
                    .keywordUndocumented, .warning, "App Services does not document the keyword \"\(name)\"",
                    remedy: "leave it out", at: location)
            }
            return place.finding(
                .keywordNotMapped, .warning,
                "only the server checks \"\(name)\": clients can write documents that break it", at: location)
        }
    }
}

extension SchemaNode {
    /// The keywords that restrict values only on the server, with their positions in the file.
    fileprivate var serverKeywords: [(String, SourceLocation)] {
        unevaluated.map { ($0.keyword, $0.location) } + constraints.keywords.map { ($0, location) }
    }
}

extension Keyword {
    /// Whether no documentation describes the keyword.
    ///
    /// `allOf`, `anyOf`, `oneOf` and `not` count as described, because App Services documents their error codes.
    fileprivate var isForeign: Bool {
        switch self {
        case .allOf, .anyOf, .oneOf, .not: false
        default: !isDocumented
        }
    }
}

extension Constraints {
    /// The names of the keywords that restrict values.
    package var keywords: [String] {
        let single: [(String, Bool)] = [
            ("minimum", minimum != nil), ("maximum", maximum != nil), ("multipleOf", multipleOf != nil),
            ("minLength", minLength != nil), ("maxLength", maxLength != nil), ("pattern", pattern != nil),
            ("enum", allowedValues != nil), ("minItems", minItems != nil), ("maxItems", maxItems != nil),
            ("additionalItems", additionalItems != nil), ("minProperties", minProperties != nil),
            ("maxProperties", maxProperties != nil), ("patternProperties", !patternProperties.isEmpty),
            ("dependencies", !dependencies.isEmpty), ("encrypt", encryption != nil),
        ]
        return single.filter(\.1).map(\.0) + combinations.map(\.kind.rawValue)
    }
}
