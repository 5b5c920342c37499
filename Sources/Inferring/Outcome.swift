package import Checking

/// What a check of the documents by the schema that was made from them found.
package struct Outcome: Sendable {
    /// The documents that were checked.
    package let checked: Int
    /// Of those, the ones that do not fit.
    package let failing: Int
    /// Of the others, the ones that only may stop syncing.
    package let possible: Int
    /// How sure ``unseenBound`` is to hold.
    package static var confidence: Double { 0.95 }
    /// The share of further documents that will not fit, at most, if they are drawn like those that were read.
    ///
    /// Two things can keep such a document from fitting: what the schema leaves out on purpose, and what no document that
    /// was read has. The first is bounded by the documents left out. For the second, a schema was made from half of the
    /// documents that accepts all of those; what it does not accept of the other half bounds what the schema of both
    /// halves, which knows more, does not accept of a third. Both bounds are Clopper and Pearson's, one-sided.
    /// What to leave out was chosen by the same documents: with a cover below 100% the first bound is near, not exact.
    package let unseenBound: Double
    /// The documents of the half that was held out, and how many of them the other half's schema does not accept.
    package let heldOut: (documents: Int, failing: Int)
    /// What does not fit, grouped by path, with counts of documents.
    package let groups: [ViolationGroup]
    /// Whether the schema accepts the share that was asked for.
    package let isWithinCover: Bool

    /// Reads a tally of `inference.compiled`, with `inference.trained` as the active schema.
    package init(_ tally: Tally, of inference: Inference) {
        let counts = tally.counts
        let isStrict = inference.options.isStrict
        let changes = counts.changes ?? VerdictChanges()
        checked = counts.read
        failing = counts.certain + (isStrict ? counts.possible : 0)
        possible = isStrict ? 0 : counts.possible
        groups = tally.violationGroups
        isWithinCover = failing <= inference.options.budget(of: counts.read)
        // What fails under both is left out on purpose, and counted by the other bound.
        let missed = min(changes.healed + (isStrict ? changes.possiblyHealed : 0), inference.heldOut)
        heldOut = (inference.heldOut, missed)
        // Where two bounds are added, each may fail half as often.
        let risk = (1 - Self.confidence) / (failing > 0 ? 2 : 1)
        let unknown = BinomialBound.upper(missed, of: inference.heldOut, confidence: 1 - risk)
        let leftOut = failing > 0 ? BinomialBound.upper(failing, of: counts.read, confidence: 1 - risk) : 0
        unseenBound = min(1, unknown + leftOut)
    }
}
