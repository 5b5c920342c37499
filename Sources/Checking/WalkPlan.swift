/// What the walk of an App Services schema borrows, apart from the rest: what is borrowed is copied for each document.
struct WalkPlan: Sendable {
    let nodes: [CompiledSchema.Node]
    var fields: [CompiledSchema.Field]
    /// The names of the fields, one per field, and those of ``references``.
    let table: FieldTable
    /// The collections that a DBRef may lead to.
    let references: [CompiledSchema.Reference]
    /// Whether those are all that there are.
    let knowsReferences: Bool
    let options: CheckOptions
}
