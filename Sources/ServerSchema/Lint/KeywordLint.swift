/// Keywords that mean nothing to clients: `keyword-not-mapped`, `keyword-undocumented`.
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
                "only the server looks at \"\(name)\": clients can write documents that do not meet it", at: location)
        }
    }
}

extension SchemaNode {
    /// The keywords that restrict values on the server alone, with their places.
    fileprivate var serverKeywords: [(String, SourceLocation)] {
        unevaluated.map { ($0.keyword, $0.location) } + constraints.keywords.map { ($0, location) }
    }
}

extension Keyword {
    /// Whether no page describes it; the logic keywords have at least error codes.
    fileprivate var isForeign: Bool {
        switch self {
        case .allOf, .anyOf, .oneOf, .not: false
        default: !isDocumented
        }
    }
}
