package import SchemaChange

/// The operator's statements in addition to the two schemas.
package struct PlanOptions: Sendable {
    /// The fields that were renamed.
    package var renames: [Rename] = []
    /// The values to fill fields with.
    package var defaults: [StatedDefault] = []
    /// The existing partner collections.
    package var partners: [PartnerCollection] = []
    /// The jobs' name; `nil` makes it from the collection and a digest.
    package var name: String?

    /// Creates options without any statement.
    package init() {}
}

/// A statement of the operator that does not fit the schemas.
package struct PlanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error, and how to correct it.
    package let description: String

    init(_ description: String) { self.description = description }
}
