enum RequiredLint {
    static func findings(at place: LintPlace) -> [LintFinding] {
        // If `properties` lacks the primary key `_id`, the rule `id-missing` reports the problem, so this rule does
        // not.
        place.node.undefinedRequired.filter { place.holder != nil || $0 != "_id" }.map { name in
            place.finding(
                .requiredUndefined, .error,
                "required names \"\(name)\", which is not a property: clients can never write it",
                remedy: Spelling.hint(for: name, among: place.node.properties.map(\.name)) ?? "define it in properties")
        }
    }
}
