/// The words of the Realm Query Language, which no queryable field can be named.
///
/// Source: App Services documentation, "Sync Settings".
enum QueryWord {
    static func isReserved(_ name: String) -> Bool {
        anyCase.contains(name.lowercased()) || exactCase.contains(name)
    }

    private static let anyCase: Set<String> = [
        "and", "asc", "ascending", "beginswith", "between", "contains", "desc", "descending", "distinct", "endswith",
        "falsepredicate", "inf", "infinity", "like", "limit", "nan", "nil", "null", "or", "sort", "subquery",
        "truepredicate",
    ]

    private static let exactCase: Set<String> = [
        "ALL", "ANY", "B64", "FALSE", "IN", "NONE", "NOT", "SOME", "TRUE", "all", "any", "false", "in", "none", "not",
        "oid", "some", "true", "uuid",
    ]
}
