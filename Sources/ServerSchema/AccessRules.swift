package import BSON

/// One file of access rules, which only lint looks into: `rules.json`, `default_rule.json`, or a legacy rules file.
package struct AccessRules: Sendable {
    /// The collection that the roles are for; `nil` for those of a data source's collections without rules of their own.
    package var namespace: Namespace?
    /// The data source that holds the collection.
    package var service: String?
    /// The file's object, with `roles` and `filters`.
    package var json: LocatedJSON
}
