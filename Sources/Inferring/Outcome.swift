package import Checking

/// The result of checking the documents against the schema that was made from them.
package struct Outcome: Sendable {
    /// The number of documents that were checked.
    package let checked: Int
    /// The number of documents that do not fit.
    package let failing: Int
    /// The number of other documents that might stop syncing.
    package let possible: Int
    /// The probability that ``unseenBound`` holds.
    package static var confidence: Double { 0.95 }
    /// The largest share of further documents that will not fit, if they are drawn like the documents that were read.
    ///
    /// Such a document might not fit because of what the schema leaves out on purpose, or because of what no document
    /// that was read has. The number of failing documents bounds the first share. For the second, a schema is made from
    /// half of the documents and accepts all of these; what it does not accept of the other half bounds what the schema
    /// of both halves, which knows more, does not accept of further documents. Both bounds are Clopper and Pearson's,
    /// one-sided. The same documents decided what the schema leaves out, so with a cover below 100% the first bound is
    /// near, not exact.
    package let unseenBound: Double
    /// The number of documents in the held-out half, and how many of them the other half's schema does not accept.
    package let heldOut: (documents: Int, failing: Int)
    /// The violations, grouped by path, with counts of documents.
    package let groups: [ViolationGroup]
    /// Whether the schema accepts the requested share of the documents.
    package let isWithinCover: Bool

    /// Reads the outcome from a tally of `inference.compiled`, with `inference.trained` as the active schema.
    package init(_ tally: Tally, of inference: Inference) {
        let counts = tally.counts
        let isStrict = inference.options.isStrict
        let changes = counts.changes ?? VerdictChanges()
        checked = counts.read
        failing = counts.certain + (isStrict ? counts.possible : 0)
        possible = isStrict ? 0 : counts.possible
        groups = tally.violationGroups
        isWithinCover = failing <= inference.options.budget(of: counts.read)
        // Documents that fail under both schemas were left out on purpose, and the other bound counts them.
        let missed = min(changes.healed + (isStrict ? changes.possiblyHealed : 0), inference.heldOut)
        heldOut = (inference.heldOut, missed)
        // If two bounds are added, each may fail only half as often.
        let risk = (1 - Self.confidence) / (failing > 0 ? 2 : 1)
        let unknown = BinomialBound.upper(missed, of: inference.heldOut, confidence: 1 - risk)
        let leftOut = failing > 0 ? BinomialBound.upper(failing, of: counts.read, confidence: 1 - risk) : 0
        unseenBound = min(1, unknown + leftOut)
    }
}
