package import SchemaChange

/// What the operator states beside the two schemas.
package struct PlanOptions: Sendable {
    /// The renames.
    package var renames: [Rename] = []
    /// The values that fields are filled with.
    package var defaults: [StatedDefault] = []
    /// The partner collections that are there.
    package var partners: [PartnerCollection] = []
    /// The jobs' name; else it is made from the collection and a digest.
    package var name: String?

    /// Nothing stated.
    package init() {}
}

/// A statement of the operator's that the schemas do not bear out.
package struct PlanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, and what would be right.
    package let description: String

    init(_ description: String) { self.description = description }
}
