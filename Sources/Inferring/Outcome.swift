package import Checking

/// The result of checking the documents against the schema that was made from them.
package struct Outcome: Sendable {
    /// The number of documents that were checked.
    package let checked: Int
    /// The number of documents that the schema does not accept.
    package let failing: Int
    /// The number of documents that the schema accepts, but that might stop syncing under it.
    package let possible: Int
    /// The probability that ``unseenBound`` holds.
    package static var confidence: Double { 0.95 }
    /// An upper bound for the share of further documents that the schema will not accept, if they are like the
    /// documents that were read.
    ///
    /// The bound is the sum of two one-sided Clopper-Pearson bounds. The first bound applies to documents that the
    /// schema refuses on purpose, and is computed from ``failing``. If ``InferOptions/cover`` is below 1, this bound is
    /// only approximate, because the documents that it counts also decided what the schema refuses.
    ///
    /// The second bound applies to documents with a field or a value that is in none of the documents that were read.
    /// To compute it, a second schema is made from half of these documents, and ``heldOut`` counts the documents of the
    /// other half that only the second schema refuses. The bound also holds for the schema made from all documents,
    /// because that schema accepts more.
    package let unseenBound: Double
    /// The number of documents in the half from which ``Inference/trained`` was not made, and how many of them
    /// `trained` misses.
    ///
    /// A missed document fails under `trained`, but does not fail under the schema made from all documents. If
    /// ``InferOptions/isStrict`` is set, a document that might fail counts as one that fails, under both schemas.
    package let heldOut: (documents: Int, failing: Int)
    /// The groups of documents that have the same violation of the schema, with the number of documents in each.
    package let groups: [ViolationGroup]
    /// Whether the schema accepts the requested share of the documents.
    package let isWithinCover: Bool

    /// Creates the outcome from the tally of a check whose new schema was `inference.compiled`, and whose active schema
    /// was `inference.trained`.
    package init(_ tally: Tally, of inference: Inference) {
        let counts = tally.counts
        let isStrict = inference.options.isStrict
        let changes = counts.changes ?? VerdictChanges()
        checked = counts.read
        failing = counts.certain + (isStrict ? counts.possible : 0)
        possible = isStrict ? 0 : counts.possible
        groups = tally.violationGroups
        isWithinCover = failing <= inference.options.budget(of: counts.read)
        // Only documents that fail under `trained` but not under `compiled` count as missed. A document that fails
        // under both schemas counts in `failing`, so the bound `leftOut`, which is computed from `failing`, covers it.
        let missed = changes.healed + (isStrict ? changes.possiblyHealed : changes.nowOnlyPossible)
        heldOut = (inference.heldOut, min(missed, inference.heldOut))
        // If the sum of two bounds must hold with ``confidence``, the risk of an error is divided equally between them.
        let risk = (1 - Self.confidence) / (failing > 0 ? 2 : 1)
        let unknown = BinomialBound.upper(heldOut.failing, of: inference.heldOut, confidence: 1 - risk)
        let leftOut = failing > 0 ? BinomialBound.upper(failing, of: counts.read, confidence: 1 - risk) : 0
        unseenBound = min(1, unknown + leftOut)
    }
}
