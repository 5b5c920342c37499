/// What is known of the schema that is live now, for one collection.
public enum ActiveSchema: Sendable {
    /// Nothing was asked: only the new schema judges.
    case notAsked
    /// It does not cover the collection: what fails under the new schema fails anew.
    case notCovered
    /// It covers the collection.
    case covered(CompiledSchema)
}
