/// Lint rules for keywords that clients ignore: `keyword-not-mapped`, `keyword-undocumented`.
enum KeywordLint {
    static func findings(at place: LintPlace) -> [LintFinding] {
        serverKeywords(of: place.node).map { name, location in
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

    /// Returns the keywords that clients ignore, each with the position at which a finding reports it.
    private static func serverKeywords(of node: SchemaNode) -> [(String, SourceLocation)] {
        node.unevaluated.map { ($0.keyword, $0.location) } + node.constraints.keywords.map { ($0, node.location) }
    }
}

extension Keyword {
    /// Whether App Services does not document the keyword.
    ///
    /// `allOf`, `anyOf`, `oneOf` and `not` count as documented, because App Services documents their error codes.
    fileprivate var isForeign: Bool {
        switch self {
        case .allOf, .anyOf, .oneOf, .not: false
        default: !isDocumented
        }
    }
}

extension Constraints {
    /// The names of the schema keywords that set the constraints, such as `minimum`.
    package var keywords: [String] {
        let single: [(String, Bool)] = [
            ("minimum", minimum.number != nil), ("maximum", maximum.number != nil), ("multipleOf", multipleOf != nil),
            ("minLength", length.minimum != nil), ("maxLength", length.maximum != nil), ("pattern", pattern != nil),
            ("enum", allowedValues != nil), ("minItems", itemCount.minimum != nil),
            ("maxItems", itemCount.maximum != nil), ("additionalItems", additionalItems != nil),
            ("minProperties", propertyCount.minimum != nil), ("maxProperties", propertyCount.maximum != nil),
            ("patternProperties", !patternProperties.isEmpty),
            ("dependencies", !dependencies.isEmpty), ("encrypt", encryption != nil),
        ]
        return single.filter(\.1).map(\.0) + combinations.map(\.kind.rawValue)
    }
}
