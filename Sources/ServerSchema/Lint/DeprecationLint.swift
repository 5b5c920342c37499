/// The lint rule for annotations of properties: `deprecated-without-day`.
enum DeprecationLint {
    static func findings(at place: LintPlace) -> [LintFinding] {
        guard let deprecation = place.node.deprecation, deprecation.day == nil else { return [] }
        return [
            place.finding(
                .deprecatedWithoutDay, .warning,
                "no day follows @deprecated, so diff does not know until when clients use the property",
                remedy: "write the last day, as in @deprecated 2027-03-31")
        ]
    }
}
