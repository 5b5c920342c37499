package import SchemaChange

/// The facts that the user states because the two schemas do not show them.
package struct PlanOptions: Sendable {
    /// The fields, types and collections that were renamed, with their old and new names.
    package var renames: [Rename] = []
    /// The values with which the planned steps fill fields, as the user states them.
    package var defaults: [StatedDefault] = []
    /// The suggested steps that the user accepts.
    package var steps: [StatedStep] = []
    /// The partner collections that exist already.
    package var partners: [PartnerCollection] = []
    /// The name of the planned jobs; with `nil`, it is made from the collection's name and a digest of the plan.
    ///
    /// If several collections have jobs, the collection's name is added to the stated name.
    package var name: String?

    /// Creates options without any statement by the user.
    package init() {}
}

/// The error for a default or a step that the user states, if it does not fit the schemas.
package struct PlanError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message, which begins with the flag and says what is wrong.
    package let description: String

    init(_ description: String) { self.description = description }
}
